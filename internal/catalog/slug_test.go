package catalog

import "testing"

func TestSlugOf(t *testing.T) {
	for name, want := range map[string][2]string{
		"Quán Hoa – Đà Nẵng": {"quan-hoa-da-nang", "quan-hoa-da-nang-2"}, "101": {"branch-101", "branch-101-2"},
		"🍜": {"branch", "branch-2"}, "鼎泰豐": {"鼎泰豐", "鼎泰豐-2"}, "Quán 7": {"quan-7", "quan-7-2"},
	} {
		if got := [2]string{SlugOf(name, 1), SlugOf(name, 2)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
