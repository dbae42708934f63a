package text

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEscapesNUL(t *testing.T) {
	for in, want := range map[string]bool{
		`"\u0000"`: true, `"\\u0000"`: false, `"\\\u0000"`: true, `"\\\\u0000"`: false, `"\\u0000\u0000"`: true, `"\u00000"`: true,
		`"u0000"`: false, `{"\u0000":1}`: true, `"\u0001"`: false, ``: false, `"\\u0000\\u0000"`: false,
	} {
		if got := EscapesNUL([]byte(in)); got != want {
			t.Errorf("EscapesNUL(%s) = %t, want %t", in, got, want)
		}
	}
}

// EscapesNUL agrees with a decoder.
func TestEscapesNUL_decoded(t *testing.T) {
	piece := rapid.SampledFrom([]string{`\\`, `\u0000`, `u0000`, `0`, `a`, `\"`, `\u0001`})
	rapid.Check(t, func(t *rapid.T) {
		in := `"` + strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "") + `"`
		var s string
		if err := json.Unmarshal([]byte(in), &s); err != nil {
			t.Fatal(in, err)
		}
		if got, want := EscapesNUL([]byte(in)), strings.ContainsRune(s, 0); got != want {
			t.Fatalf("%s: %t, want %t", in, got, want)
		}
	})
}
