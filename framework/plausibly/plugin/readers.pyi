from plausibly.data import states as states
from plausibly.data.records import (
    table_from_codes as table_from_codes,
)
from plausibly.data.text_table import (
    TextTable as TextTable,
)
from plausibly.io.annotation_files import (
    is_annotation_file as is_annotation_file,
    read_annotation_file as read_annotation_file,
)
from plausibly.io.arrays import (
    NamedArray as NamedArray,
    from_npy as from_npy,
    from_npz as from_npz,
)
from plausibly.io.files import (
    contents,
    decode,
    opening,
    read_text as read_text,
)
from plausibly.io.hints import (
    columns_hint as columns_hint,
    names_examples as names_examples,
)
from plausibly.io.json import (
    JsonNumber as JsonNumber,
    json_head as json_head,
    json_records as json_records,
    json_shown as json_shown,
    parse_json as parse_json,
    read_json as read_json,
    read_json_lines as read_json_lines,
)
from plausibly.io.predictions import (
    NamedPrediction as NamedPrediction,
    from_named as from_named,
)
from plausibly.io.responses import (
    Duplicates as Duplicates,
    Response as Response,
    ResponseOptions as ResponseOptions,
)
from plausibly.io.text import (
    check_named as check_named,
    first_row as first_row,
    first_rows as first_rows,
    read_table as read_table,
)
from plausibly.io.xml import (
    Element,
    read_xml as read_xml,
)

decode_text = decode
file_contents = contents
file_opening = opening
XmlElement = Element
