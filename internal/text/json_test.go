package text_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"comanda/internal/testenv"
	"comanda/internal/text"
)

func TestAppendJSON(t *testing.T) {
	for in, want := range map[string]string{
		"":                     `""`,
		`Phở "bò" \ <pho> & 牛`: `"Phở \"bò\" \\ <pho> & 牛"`,
		"a\nb\tc\x00\x7f":      `"a\nb\u0009c\u0000` + "\x7f" + `"`,
		"\xffa\xc3":            "\"\ufffda\ufffd\"",
	} {
		testenv.Equal(t, want, string(text.AppendJSON(nil, in)))
	}
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) // mostly invalid UTF-8
		if rapid.Bool().Draw(t, "valid") {
			in = rapid.String().Draw(t, "text")
		}
		var want, got string
		standard, _ := json.Marshal(in) // replaces invalid UTF-8 in the same way
		_ = json.Unmarshal(standard, &want)
		if err := json.Unmarshal(text.AppendJSON(nil, in), &got); err != nil || got != want {
			t.Errorf("AppendJSON(%q) reads as %q, %v, want %q", in, got, err, want)
		}
	})
}
