package strictjson

import (
	"strings"
	"testing"
	"time"
)

type order struct {
	Name  string         `json:"name"`
	Total int64          `json:"total"`
	Rate  float64        `json:"rate"`
	Paid  bool           `json:"paid"`
	At    time.Time      `json:"at"`
	Lines []line         `json:"lines"`
	Extra map[string]int `json:"extra"`
}

type line struct {
	Qty int64 `json:"qty"`
}

// Every error names what stands in the text, and no type of Go.
func TestDecode_refuses(t *testing.T) {
	for in, want := range map[string]string{
		``:                          "it is empty",
		`hello`:                     `column 1: expected a value, found "h"`,
		`{"name":"a"`:               "column 12: the JSON is incomplete",
		"{\n  \"name\": [1,\n":      "line 2, column 14: the JSON is incomplete",
		`{"name":"ố" "total":1}`:    `column 13: expected a comma or }, found "\""`,
		`{"name" "a"}`:              `column 9: expected a colon, found "\""`,
		`{name:"a"}`:                `column 2: expected a name in double quotes, found "n"`,
		"{\"total\":1,\n}":          `line 2, column 1: expected a name in double quotes, found "}"`,
		"{\n\"lines\":[{} {}]\n}":   `line 2, column 13: expected a comma or ], found "{"`,
		"{\"name\":\"a\nb\"}":       `line 1, column 11: expected a text without line breaks and control characters, found "\n"`,
		`{"name":"\q"}`:             `column 11: expected one of "\/bfnrtu after a backslash, found "q"`,
		`{"name":"\u00x0"}`:         `column 14: expected four hexadecimal digits after \u, found "x"`,
		`{"total":1.}`:              `column 12: expected a digit, found "}"`,
		`{"total":-x}`:              `column 11: expected a digit, found "x"`,
		`{"paid":ture}`:             `column 10: expected true, false, null or a text in double quotes, found "u"`,
		"\ufeff{]":                  `column 2: expected a name in double quotes, found "]"`,
		`{} {}`:                     "there is more than one value",
		`{}]`:                       "there is more than one value",
		`{}}`:                       "there is more than one value",
		`[]`:                        "an object is expected, not array",
		`{"tip":1}`:                 `unknown field "tip"`,
		`{"name":1}`:                "a text is expected in name, not number",
		`{"total":13e4}`:            "a whole number is expected in total, not number 13e4",
		`{"rate":"1"}`:              "a number is expected in rate, not string",
		`{"paid":"yes"}`:            "true or false is expected in paid, not string",
		`{"lines":"pho"}`:           "a list is expected in lines, not string",
		`{"lines":[{"qty":"two"}]}`: "a whole number is expected in lines.qty, not string",
		`{"extra":[]}`:              "an object is expected in extra, not array",
		`{"at":"2025-11-03 11:20"}`: `"2025-11-03 11:20" is not a time like 2025-11-03T11:20:00+07:00`,
		`{"at":5}`:                  "a time must be a text like 2025-11-03T11:20:00+07:00",
	} {
		var o order
		err := Decode([]byte(in), &o)
		if err == nil || err.Error() != want {
			t.Errorf("Decode(%s) = %v, want %s", in, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "strictjson") {
			t.Errorf("the error of %s names a type of Go: %v", in, err)
		}
	}
}

func TestDecode(t *testing.T) {
	var o order
	in := "\ufeff" + ` {"name":"a","lines":[{"qty":2}],"at":"2025-11-03T11:20:00+07:00"} ` + "\n"
	if err := Decode([]byte(in), &o); err != nil || o.Name != "a" || o.Lines[0].Qty != 2 || o.At.IsZero() {
		t.Errorf("Decode(%q) = %+v, %v, want the order", in, o, err)
	}
}
