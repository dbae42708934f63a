package account_test

import (
	"slices"
	"testing"
	"time"

	"comanda/internal/account"
)

// The score falls with each flag by the points of its kind, and never below zero.
func TestTrustRules_Score(t *testing.T) {
	rules := account.TrustRules{ExpiredOrder: 5, NoShow: 20, Chargeback: 40}
	expired, noShow, chargeback := account.FlagExpiredOrder, account.FlagNoShow, account.FlagChargeback
	for _, c := range []struct {
		name  string
		rules account.TrustRules
		flags []account.FlagKind
		score int
		kinds []account.FlagKind
	}{
		{"none", rules, nil, 100, nil},
		{"one", rules, []account.FlagKind{expired}, 95, []account.FlagKind{expired}},
		{
			"several", rules, []account.FlagKind{noShow, expired, expired, chargeback}, 30,
			[]account.FlagKind{chargeback, expired, noShow},
		},
		{"not below zero", rules, []account.FlagKind{chargeback, chargeback, chargeback}, 0, []account.FlagKind{chargeback}},
		{"a kind that costs nothing", account.TrustRules{}, []account.FlagKind{noShow}, 100, []account.FlagKind{noShow}},
		{"a kind of a newer release", rules, []account.FlagKind{"ABUSE"}, 100, []account.FlagKind{"ABUSE"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			score, kinds := c.rules.Score(c.flags)
			if score != c.score || !slices.Equal(kinds, c.kinds) {
				t.Errorf("Score = %d, %v, want %d, %v", score, kinds, c.score, c.kinds)
			}
		})
	}
	at := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	if got := (account.TrustRules{Period: 48 * time.Hour}).Cutoff(at); !got.Equal(at.AddDate(0, 0, -2)) {
		t.Errorf("Cutoff = %v", got)
	}
}
