package httpapi

import (
	"slices"
	"strings"
	"testing"
)

func TestLocale(t *testing.T) {
	have := []string{"vi", "en", "zh-TW", "th"}
	for header, want := range map[string]string{
		"": "vi", "en": "en", "EN-us": "en", "zh-TW,zh;q=0.9,en;q=0.8": "zh-TW", "zh-Hant-TW": "zh-TW", "zh": "zh-TW",
		"fr, th;q=0.5": "th", "fr;q=1, en;q=0.3, th;q=0.4": "th", "en;q=0": "vi", "en;q=0,th;q=0.1": "th", "*": "vi",
		"en;q=2": "vi", "en;q=x": "vi", "en;level=1": "vi", ";;,,;q=": "vi", "-": "vi", "en ; q=0.5 , vi;q=0.4": "en",
		"en;q=NaN": "vi", strings.Repeat("xx,", 20) + "en": "vi", strings.Repeat("x", 600) + ",en": "vi",
	} {
		if got := Locale(header, have...); got != want {
			t.Errorf("%q selects %q, want %q", header, got, want)
		}
	}
	if got := Locale[string]("en"); got != "" {
		t.Errorf("without a choice it selects %q", got)
	}
	if got := Locale("zh", "zh-TW", "zh"); got != "zh" {
		t.Errorf("the exact tag loses against its variant: %q", got)
	}
}

func FuzzLocale(f *testing.F) {
	for _, s := range []string{"", "en", "zh-Hant-TW;q=0.5,en;q=0.4", "*;q=0", ",,;-", "a-b-c-d-e-f"} {
		f.Add(s)
	}
	have := []string{"vi", "en", "zh-TW"}
	f.Fuzz(func(t *testing.T, header string) {
		if got := Locale(header, have...); !slices.Contains(have, got) {
			t.Fatalf("%q selects %q", header, got)
		}
	})
}
