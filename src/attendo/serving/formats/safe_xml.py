"""XML by strangers: nothing is fetched, no entity is expanded, nothing grows."""

from lxml import etree

from attendo.errors import DataError


def parsed(content: bytes) -> etree._ElementTree:
    """Reads XML, keeping all that is in it as it is.

    Entities are found by the parser, whatever encoding they are written in; none is expanded in text, and in attributes
    only within the parser's own bounds.

    Raises:
        DataError: it is not well formed, or defines entities.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        strip_cdata=False,
        remove_blank_text=False,
    )
    try:
        tree = etree.ElementTree(etree.fromstring(content, parser))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DataError(f"the document is not well-formed XML: {str(error)[:200]}") from error
    if (subset := tree.docinfo.internalDTD) is not None and next(subset.iterentities(), None) is not None:
        raise DataError("the document defines entities of its own, which are not read; save it without a DTD")
    return tree


def serialized(tree: etree._ElementTree, *, standalone: bool | None = None) -> bytes:
    """The document again, in its own encoding."""
    info = tree.docinfo
    found: bytes = etree.tostring(
        tree,
        encoding=info.encoding or "UTF-8",
        xml_declaration=True,
        standalone=info.standalone if standalone is None else standalone,
    )
    return found


def inner_xml(element: etree._Element) -> str:
    """What is between an element's tags, as it is written; prefixes of names are kept, their meanings are not there."""
    copied: str = etree.tostring(element, encoding="unicode", with_tail=False)
    start = copied.index(">") + 1
    if copied[start - 2] == "/":
        return ""
    return copied[start : copied.rindex("</")]


def set_inner_xml(element: etree._Element, written: str) -> None:
    """Puts XML between an element's tags; its prefixes mean what they mean there.

    Raises:
        DataError: it is not well formed.
    """
    names = "".join(
        f' xmlns{":" + prefix if prefix else ""}="{_escaped(uri)}"' for prefix, uri in element.nsmap.items() if uri
    )
    try:
        found = etree.fromstring(
            f"<r{names}>{written}</r>", etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        )
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DataError(f"a translation is not well-formed XML: {str(error)[:200]}") from error
    for child in list(element):
        element.remove(child)
    element.text = found.text
    for child in found:
        element.append(child)


def _escaped(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
