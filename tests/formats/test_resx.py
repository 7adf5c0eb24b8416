""".NET resources. Expected bytes are written by hand after Microsoft's description of the format."""

import pytest

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.file import result
from attendo.formats.table import read_file

RESOURCES = """\ufeff<?xml version="1.0" encoding="utf-8"?>\r
<root>\r
  <resheader name="version"><value>2.0</value></resheader>\r
  <data name="Hello" xml:space="preserve">\r
    <value>Hello {0:N2} &amp; "x"</value>\r
    <comment>greets</comment>\r
  </data>\r
  <data name="icon" type="System.Drawing.Icon" mimetype="application/x-microsoft.net.object.bytearray.base64">\r
    <value>AAAB</value>\r
  </data>\r
  <data name="&gt;&gt;button1.Name" xml:space="preserve"><value>button1</value></data>\r
  <data name="button1.Size" xml:space="preserve"><value>1, 2</value></data>\r
  <data name="button1.Text" xml:space="preserve"><value>OK</value></data>\r
  <data name="empty" xml:space="preserve"><value /></data>\r
</root>"""


def test_texts_are_translated_and_designer_values_kept() -> None:
    file = read_file(RESOURCES.encode(), "R.resx")
    assert [unit.id for unit in file.units if unit.is_translatable] == ["Hello", "button1.Text"]
    assert (plain(file.units[0].source), file.units[0].notes) == ('Hello {0:N2} & "x"', ("greets",))
    out = file.write({"Hello": result("Hallo <\n{0:N2}")}).decode()
    assert out == RESOURCES.replace('Hello {0:N2} &amp; "x"', "Hallo &lt;\r\n{0:N2}")
    assert file.write({}) == RESOURCES.encode()


def test_other_xml_is_refused() -> None:
    with pytest.raises(DataError, match=r"these are not \.NET resources: the outermost element is <a>"):
        read_file(b"<a/>", "R.resx")
