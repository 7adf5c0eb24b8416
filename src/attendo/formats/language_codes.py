"""Language codes that are recognized in names of files and in keys."""

_CODES = (
    "ab aa af sq am ar an hy as az be bn eu bg bs br my ca zh co cs cy da de el en eo et fa fi fr fy ga gd gl gu "
    "he hi hr hu ia id ig is it ja jv ka kk km kn ko ku ky la lb lo lt lv mg mi mk ml mn mr ms mt nb nl nn no ne "
    "oc or pa pl ps pt ro ru rw sa sc sd si sk sl so sr st su sv sw ta te tg th ti tk tl tr tt ug uk ur uz vi wa "
    "wo xh yi yo zu"
)
LANGUAGES = frozenset(_CODES.split())
"""The recognized codes."""
