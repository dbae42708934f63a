package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"Nguyễn Đỗ ÁNH": "nguyen do anh", "BÀN 7": "ban 7", "Ａ１": "a1", "Straße": "straße", "陳小姐": "陳小姐", "": "",
	} {
		if got := Fold(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestSlug(t *testing.T) {
	long := strings.Repeat("nguyen ", 20)
	for in, want := range map[string]string{
		"Quán Hoa": "quan-hoa", "  Phở & Bún – Đà Nẵng (Q.1) ": "pho-bun-da-nang-q-1", "Café Zoë": "cafe-zoe",
		"鼎泰豐 信義店": "鼎泰豐-信義店", "ガスト": "ガスト", "ร้านอาหาร": "ร้านอาหาร", "🍜": "", "...": "", "101": "101", "A/B?c#d%e": "a-b-c-d-e",
		long: strings.TrimSuffix(strings.Repeat("nguyen-", 5), "-"), strings.Repeat("x", 50): strings.Repeat("x", 40),
	} {
		if got := Slug(in, 40); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// The slug of any text is short, one segment of a path, and its own slug.
func TestSlug_any(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Slug(rapid.String().Draw(t, "text"), 40)
		if utf8.RuneCountInString(s) > 40 || strings.ContainsAny(s, "/?#%&. ") || strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") {
			t.Fatalf("slug = %q, want at most 40 characters of one segment", s)
		}
		if again := Slug(s, 40); again != s {
			t.Fatalf("%q becomes %q", s, again)
		}
	})
}
