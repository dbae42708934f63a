package ordering_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"comanda/internal/ordering"
)

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]ordering.NumberFilter{
		"": {}, "  ": {}, "42": {Digits: 42}, "042": {Digits: 42}, "7": {Digits: 7}, "A-042": {Whole: 42}, "a042": {Whole: 42},
		"b 1": {Whole: 1000}, " A-7 ": {Whole: 7},
	} {
		if got, err := ordering.ParseNumber(text); err != nil || got != want {
			t.Errorf("ParseNumber(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "A-000", "1000", "A-1000", "A", "-", "A--1", "4 2", "%", "' OR 1", "ABCDE-1", "Ä-1", "٣"} {
		if _, err := ordering.ParseNumber(text); !errors.Is(err, ordering.ErrInvalidNumber) {
			t.Errorf("ParseNumber(%q): error %v, want ErrInvalidNumber", text, err)
		}
	}
}

// ParseNumber reads what ShortNumber writes, in either case.
func TestParseNumber_readsShortNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 2_000_000).Draw(t, "n")
		for _, text := range []string{ordering.ShortNumber(n), strings.ToLower(ordering.ShortNumber(n))} {
			if got, err := ordering.ParseNumber(text); err != nil || got.Whole != n || got.Digits != 0 {
				t.Fatalf("%s is %d: %+v, %v", text, n, got, err)
			}
		}
	})
}
