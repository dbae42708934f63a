package text

import "testing"

func TestPersonName(t *testing.T) {
	for _, c := range []struct{ language, given, family, want string }{
		{"en", "Lan", "Nguyễn", "Lan Nguyễn"}, {"en", "美玲", "陳", "美玲陳"},
		{"", "Lan", "Nguyễn", "Lan Nguyễn"},
		{"vi", "Lan", "Nguyễn", "Nguyễn Lan"}, {"vi-VN", "Lan", "Nguyễn", "Nguyễn Lan"},
		{"zh-TW", "美玲", "陳", "陳美玲"}, {"zh-Hant", "Mei", "陳", "陳 Mei"}, {"vi", "美玲", "陳", "陳美玲"},
		{"vi", " Lan ", "", "Lan"}, {"zh", "", "陳", "陳"}, {"en", "", "Nguyễn", "Nguyễn"}, {"vi", " ", "", ""},
	} {
		if got := PersonName(c.language, c.given, c.family); got != c.want {
			t.Errorf("PersonName(%q, %q, %q) = %q, want %q", c.language, c.given, c.family, got, c.want)
		}
	}
}
