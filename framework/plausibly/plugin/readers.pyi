from plausibly.data import states as states
from plausibly.data.records import (
    table_from_codes as table_from_codes,
)
from plausibly.data.text_table import (
    TextTable as TextTable,
)
from plausibly.io.annotation_files import (
    read_annotation_file as read_annotation_file,
)
from plausibly.io.arrays import (
    from_npy as from_npy,
    from_npz as from_npz,
)
from plausibly.io.datasets import (
    is_annotation_file as is_annotation_file,
)
from plausibly.io.files import (
    decode,
    opening,
)
from plausibly.io.hints import (
    columns_hint as columns_hint,
    names_examples as names_examples,
)
from plausibly.io.json import (
    JsonNumber as JsonNumber,
    json_head as json_head,
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
file_opening = opening
XmlElement = Element
