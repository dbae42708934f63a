package catalog

import (
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
	"comanda/internal/money"
)

// Limits of what a catalog holds. They bound the size of a menu's answer and keep every sum far below 2^53.
const (
	MaxName        = 120  // characters of a name
	MaxDescription = 1000 // characters of a description
	MaxPrice       = 1_000_000_000
	MaxQuota       = 1_000_000
	MinAutoClose   = time.Minute
	MaxAutoClose   = 24 * time.Hour
)

// The faults of this room.
var (
	ErrBranch   = fault.New(fault.NotFound, "branch_not_found", "There is no such branch.")
	ErrMenu     = fault.New(fault.NotFound, "menu_not_found", "There is no such menu, or none is published.")
	ErrVersion  = fault.New(fault.NotFound, "menu_version_not_found", "There is no such menu version.")
	ErrItem     = fault.New(fault.NotFound, "menu_item_not_found", "There is no such menu item.")
	ErrTable    = fault.New(fault.NotFound, "table_not_found", "There is no such table in this branch.")
	ErrNotDraft = fault.New(fault.Conflict, "menu_version_not_draft", "A published menu version never changes.")
	ErrEmpty    = fault.New(fault.Conflict, "menu_version_empty", "A menu version needs an active item to be published.")
)

func invalid(format string, args ...any) error {
	return fault.Newf(fault.Invalid, "invalid", format, args...)
}

// Branch is one restaurant site.
type Branch struct {
	ID        int64
	Name      string
	Currency  money.Currency
	Timezone  string // IANA
	DayStart  int    // local hour at which the business day begins
	Locales   []Locale
	AutoClose time.Duration // a visit without a sign of life closes after it
	Open      bool          // false: closed, guests may look but not order
	Pause     *Pause        // nil where nobody has paused it; see Paused
	Revision  int64         // moves with everything that the branch's menu shows

	calendar *Calendar
}

// NewBranch checks a branch and works its calendar out.
func NewBranch(b Branch) (Branch, error) {
	if err := checkName("A branch", b.Name); err != nil {
		return Branch{}, err
	}
	if !b.Currency.Valid() {
		return Branch{}, invalid("%q is not an accepted currency.", string(b.Currency))
	}
	if len(b.Locales) == 0 || slices.ContainsFunc(b.Locales, func(l Locale) bool { return !l.Valid() }) {
		return Branch{}, invalid("A branch needs locales out of %v.", locales)
	}
	if b.AutoClose < MinAutoClose || b.AutoClose > MaxAutoClose {
		return Branch{}, invalid("Visits close after %v to %v, not after %v.", MinAutoClose, MaxAutoClose, b.AutoClose)
	}
	var err error
	b.calendar, err = NewCalendar(b.Timezone, b.DayStart)
	return b, err
}

// Calendar tells the branch's business dates.
func (b Branch) Calendar() *Calendar { return b.calendar }

// Offers tells whether the branch keeps its menu in a locale.
func (b Branch) Offers(l Locale) bool { return slices.Contains(b.Locales, l) }

func checkName(what, name string) error {
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxName || !utf8.ValidString(name) {
		return invalid("%s has a name of 1 to %d characters.", what, MaxName)
	}
	return nil
}

// Check tells whether the texts can be the names of a thing: at least one, each in a known locale and of a fair length.
func (t Texts) Check(what string, limit int) error {
	if len(t) == 0 {
		return invalid("%s needs a text in at least one locale.", what)
	}
	for l, s := range t {
		if !l.Valid() {
			return invalid("%s has a text in %q, which is none of %v.", what, string(l), locales)
		}
		if n := utf8.RuneCountInString(s); n == 0 || n > limit || !utf8.ValidString(s) {
			return invalid("%s has a text in %q that is not of 1 to %d characters.", what, string(l), limit)
		}
	}
	return nil
}

// CheckPrice refuses what cannot be a price.
func CheckPrice(price int64) error {
	if price < 0 || price > MaxPrice {
		return invalid("A price is a whole number of minor units from 0 to %d.", MaxPrice)
	}
	return nil
}

// CheckQuota refuses what cannot be a daily quota; nil is unlimited, 0 takes the item off the day.
func CheckQuota(quota *int64) error {
	if quota != nil && (*quota < 0 || *quota > MaxQuota) {
		return invalid("A daily quota is a whole number from 0 to %d, or null for none.", MaxQuota)
	}
	return nil
}
