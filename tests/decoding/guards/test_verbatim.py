"""What is no language, found in lines written or drawn here; hashes and encodings are the standard library's."""

import base64
import hashlib
import uuid
from random import Random

import pytest

from attendo.decoding.guards.verbatim import has_words_besides, verbatim

SHA1 = hashlib.sha1(b"a commit").hexdigest()
MD5 = hashlib.md5(b"a file").hexdigest()
UUID = str(uuid.UUID(int=0x6BA7B8109DAD11D180B400C04FD430C8))
BASE64 = base64.b64encode(hashlib.sha512(b"a key").digest()).decode()
MASHED = "".join(Random(3).choices("sdfghjklqwrtz", k=60))

# The longest words of their languages that are in use or known for it, and the longest place name.
COMPOUNDS = [
    "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "Grundstücksverkehrsgenehmigungszuständigkeitsübertragungsverordnung",
    "Straßenentwässerungsinvestitionskostenschuldendienstumlage",
    "lentokonesuihkuturbiinimoottoriapumekaanikkoaliupseerioppilas",
    "kolmivaihekilowattituntimittari",
    "epäjärjestelmällistyttämättömyydelläänsäkäänköhän",
    "muvaffakiyetsizleştiricileştiriveremeyebileceklerimizdenmişsinizcesine",
    "megszentségteleníthetetlenségeskedéseitekért",
    "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
    "Taumatawhakatangihangakoauauotamateaturipukakapikimaungahoronukupokaiwhenuakitanatahu",
    "превысокомногорассмотрительствующий",
    "निरन्तरान्धकारितदिगन्तरकन्दलदमन्दसुधारसबिन्दुसान्द्रतरघनाघनवृन्दसन्देहकरस्यन्दमानमकरन्दबिन्दुबन्धुरतरमाकन्दतरुकुल",
]
# Article 1 of the Universal Declaration of Human Rights, in scripts without spaces between words.
UNSPACED = [
    "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられている。",
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิต่างมีเหตุผลและมโนธรรมและควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
    "ມະນຸດເກີດມາມີສິດເສລີພາບແລະສະເໝີໜ້າກັນໃນທາງກຽດຕິສັກແລະທາງສິດດ້ວຍມະນຸດມີສະຕິສໍາປັດຊັນຍະ",
    "មនុស្សទាំងអស់កើតមកមានសេរីភាពនិងសមភាពក្នុងសេចក្តីថ្លៃថ្នូរនិងសិទ្ធិមនុស្សមានវិចារណញ្ញាណ",
    "လူတိုင်းသည်တူညီလွတ်လပ်သောဂုဏ်သိက္ခာဖြင့်လည်းကောင်းတူညီလွတ်လပ်သောအခွင့်အရေးများဖြင့်လည်းကောင်း",
    "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང་ཐོབ་ཐངགི་རང་དབང་འདྲ་མཉམ་དུ་ཡོད་ལ",
]
OTHERS = [
    "",
    "x",
    "Noooooooooooooooo!",
    "Hahahahahahahahahaha, das ist gut.",
    "No, no, no, no, no, no, no!",
    "If it is so, do as he is to do, or we go up to it as it is, if I am in on it or no.",
    "Call +49 (0) 30 1234-5678 or 0800 / 55 66 77, Mo-Fr 9-17 h.",
    "The event Microsoft.VisualStudio.TestTools.UITest.Extension.UITechnologyElement.QueryId is raised.",
    "See C:\\Program Files\\Visual Studio\\Common7\\PrivateAssemblies\\ProjectItems\\DataTransformationProject.",
    "Read https://example.org/questions/11227809/why-is-it-faster-to-process-a-sorted-array?lang=en#11227902 first.",
    "The old house stands by the lake. " * 50,
    "Go. " * 50,
    "Set max_batch_tokens, max_batch_sentences and window_lines, or call getUserNameFromDatabase().",
    "Das Hals-Nasen-Ohren-Arzt-Behandlungszimmer-Reinigungskraft-Vertretungsproblem ist gelöst.",
    "Montag/Dienstag/Mittwoch/Donnerstag/Freitag/Samstag geöffnet.",
    "Section 4.2.1 (a) (i), pp. 12-14, vol. 3, no. 2, ISBN 978-3-16-148410-0, DIN A4, 5 m x 3 m.",
    "Prst skrz krk; čtvrthrst zrn. Vlk zmrzl, zhltl hrst zrn, vtrhl v krb.",
    "The result is 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24.",
]


@pytest.mark.parametrize("text", [*COMPOUNDS, *UNSPACED, *OTHERS])
def test_language_is_never_taken_for_something_else(text: str) -> None:
    assert verbatim(text) == []
    assert verbatim(f"I say {text} and go.") == []


@pytest.mark.parametrize("text", UNSPACED)
def test_a_page_without_a_space_is_language_too(text: str) -> None:
    assert verbatim("".join(f"{text[place:]}{text[:place]}" for place in range(0, 60, 7))) == []


@pytest.mark.parametrize(
    "noise",
    [
        SHA1,
        MD5,
        UUID,
        BASE64,
        MASHED,
        f"0x{MD5}",
        "x" * 40,
        "x" * 20_000,
        "ab" * 100,
        "-" * 70,
        "ACGTTGCAAT" * 3 + "GATTACAGATTACATTTGCAGGCA",
        "哈" * 100,
        "dog " * 30 + "dog",
        "a\t" * 40 + "a",
        "| --- | :-: | --- | :-: | --- | :-: | --- | :-: | --- | :-: | --- | :-: |",
        "4a 6f 20 fe 0b 1c 9d 77 4a 6f 20 fe 0b 1c 9d 73 4b 6c 21 fe 0b 1c 9d 77",
        "!function(e,t){for(;e.length>2;)t[e.pop()]=(e||{}).x=!0,n&&(e[n-1]=t)}(a,b)",
        "z\u0334\u0321\u031b\u035a\u0328a\u0336\u035d\u0322\u0327l\u0338\u0321\u0322\u0327\u031b\u035ag\u0338\u0321\u0322\u0327\u031b\u035ao\u0338\u0321\u0322\u0327\u031b\u035a\u0321\u0321",
    ],
)
def test_what_is_no_language_is_found_and_the_words_around_it_are_not(noise: str) -> None:
    whole = verbatim(noise)
    assert [(each.start, each.end) for each in whole] == [(0, len(noise))]
    assert not has_words_besides(noise, whole)
    text = f"The old house {noise} stands here."
    [found] = verbatim(text)
    assert text[found.start : found.end] == noise
    assert has_words_besides(text, [found])


def test_marks_around_a_hash_are_the_sentences() -> None:
    text = f'It is broken since ({SHA1}), they say; "{UUID}" was right.'
    assert [text[each.start : each.end] for each in verbatim(text)] == [SHA1, UUID]


def test_lines_are_looked_at_one_by_one() -> None:
    # A column of a table says the same again and again, and each is a line's text.
    assert verbatim("yes\n" * 100) == []
    text = f"the dog\n{BASE64}\nthe dog"
    assert [text[each.start : each.end] for each in verbatim(text)] == [BASE64]


def test_code_with_words_between_is_found_as_a_whole() -> None:
    text = "if(a[b]){c(d)} return(e&&f[g])||{h:1}; else{i(j);k[l]=m} while(n<o){p(q)} break(r);"
    assert [text[each.start : each.end] for each in verbatim(text)] == [text]


def test_a_line_of_letters_without_vowels_is_no_language() -> None:
    random = Random(1)
    text = " ".join("".join(random.choices("sdfghjklwrt", k=random.randint(3, 9))) for _ in range(40))
    assert [(each.start, each.end) for each in verbatim(text)] == [(0, len(text))]


@pytest.mark.parametrize(
    "text", ["(" * 50_000, "a@" * 25_000, ("ab " * 20_000).strip(), "://" * 20_000, "ab@c_" * 9_000]
)
def test_fifty_thousand_characters_are_one_stretch(text: str) -> None:
    assert [(each.start, each.end) for each in verbatim(text)] == [(0, len(text))]


@pytest.mark.parametrize("period", range(1, 14))
@pytest.mark.parametrize("times", [9, 10, 40])
def test_a_repetition_amid_a_long_text_is_found_where_it_stands(period: int, times: int) -> None:
    """In Chinese characters, where nothing else is looked for: ten times or more, of 64 characters or more.

    The long word has the line looked at closely.
    """
    rng = Random(period)
    before, after = ("".join(map(chr, rng.sample(range(0x4E00, 0x6000), 300))) for _ in range(2))
    repeated = "".join(map(chr, rng.sample(range(0x7000, 0x8000), period))) * times
    is_one = period <= 12 and times >= 10 and len(repeated) >= 64
    found = [(stretch.start, stretch.end) for stretch in verbatim(f"{before}{repeated}{after} Straßenbahnhaltestelle")]
    assert found == ([(300, 300 + len(repeated))] if is_one else [])
