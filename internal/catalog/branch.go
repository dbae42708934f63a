package catalog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/text"
)

// The limits of a catalog. They bound the size of a menu's response and keep every sum far below 2^53, the largest integer
// that JavaScript represents exactly.
const (
	MaxName        = 120  // characters of a name
	MaxDescription = 1000 // characters of a description
	MaxPrice       = 1_000_000_000
	MaxQuota       = 1_000_000
	MinAutoClose   = time.Minute
	MaxAutoClose   = 24 * time.Hour
)

// The faults of this package.
var (
	ErrBranch   = fault.New(fault.NotFound, "branch_not_found", "Branch not found.")
	ErrMenu     = fault.New(fault.NotFound, "menu_not_found", "Menu not found, or not published yet.")
	ErrVersion  = fault.New(fault.NotFound, "menu_version_not_found", "Menu version not found.")
	ErrItem     = fault.New(fault.NotFound, "menu_item_not_found", "Menu item not found.")
	ErrTable    = fault.New(fault.NotFound, "table_not_found", "Table not found in this branch.")
	ErrNotDraft = fault.New(fault.Conflict, "menu_version_not_draft",
		"A published menu version cannot be changed. Create a draft.")
	ErrMailFrom = fault.New(fault.Invalid, "mail_from_invalid",
		"The sender must be an e-mail address, or a name with one, such as House <no-reply@house.example>.").
		With("field", "mailFrom")
	ErrEmpty = fault.New(fault.Conflict, "menu_version_empty", "Add at least one available dish before you publish.")
)

func invalid(format string, args ...any) error {
	return fault.Newf(fault.Invalid, "invalid", format, args...)
}

// Branch is one restaurant site.
type Branch struct {
	ID         int64
	Name       string
	Country    Country // empty: not stated
	Currency   money.Currency
	Timezone   string // IANA
	DayStart   int    // local hour at which the business day begins, 0 to 23
	Locales    []Locale
	AutoClose  time.Duration // idle time after which a visit closes
	Open       bool          // false: guests can see the menu but not order
	Pause      *Pause        // may have ended; see Paused
	Hours      OpeningHours  // empty: open at all hours
	MailFrom   string        // sender of e-mails about its orders; empty: its name at the restaurant's address
	SharedCart bool          // the guests of a table fill one cart
	Pricing    Pricing       // taxes, service charges and discounts
	Vouchers   bool          // it has vouchers, so guests are asked for a code
	Slug       string        // its name in URLs of public pages; empty only if an earlier release created it
	RetiredAt  time.Time     // zero: in use
	HasOrders  bool          // fixes the currency, time zone and start of the business day
	Revision   int64         // increases with every change to what the branch's menu shows

	calendar *Calendar
	schedule *schedule // nil: open at all hours
}

// NewBranch validates a branch and computes its calendar and the schedule of its opening hours.
func NewBranch(b Branch) (Branch, error) {
	if err := checkName("A branch", b.Name); err != nil {
		return Branch{}, err
	}
	if !b.Currency.Valid() {
		return Branch{}, invalid("%q is not an accepted currency.", string(b.Currency))
	}
	// The first locale is the fallback of every text, so there must be one.
	if len(b.Locales) == 0 || slices.ContainsFunc(b.Locales, func(l Locale) bool { return !l.Valid() }) {
		return Branch{}, invalid("A branch needs one or more of the locales %s.", localeList())
	}
	if b.AutoClose < MinAutoClose || b.AutoClose > MaxAutoClose {
		return Branch{}, invalid("Visits close after %v to %v, not after %v.", MinAutoClose, MaxAutoClose, b.AutoClose)
	}
	if b.MailFrom != "" {
		if _, err := text.ParseMailbox(b.MailFrom); err != nil {
			return Branch{}, ErrMailFrom
		}
	}
	var err error
	if b.calendar, err = NewCalendar(b.Timezone, b.DayStart); err != nil {
		return Branch{}, err
	}
	b.schedule, err = newSchedule("openingHours.", b.Hours, b.calendar)
	return b, err
}

// Calendar returns the branch's calendar of business dates.
func (b Branch) Calendar() *Calendar { return b.calendar }

// Offers reports whether the branch shows its menu in a locale.
func (b Branch) Offers(l Locale) bool { return slices.Contains(b.Locales, l) }

// cleanBranchName returns the stored form of a new name of a branch. Names that were stored before it existed may have
// another form, so NewBranch, which also reads branches, does not call it.
func cleanBranchName(name string) (string, error) {
	cleaned, err := text.Line.Clean(name)
	if err != nil {
		return "", invalidIn("name", "The name of a branch "+err.Error()+".")
	}
	return cleaned, nil
}

// checkName validates a name that has one text for all locales.
func checkName(what, name string) error {
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxName || !utf8.ValidString(name) {
		return invalid("%s needs a name of 1 to %d characters.", what, MaxName)
	}
	return nil
}

// Check validates texts: at least one, each in a supported locale and of 1 to limit characters. what names the texts
// in errors.
func (t Texts) Check(what string, limit int) error {
	if len(t) == 0 {
		return invalid("%s needs a text in at least one locale.", what)
	}
	for l, s := range t {
		if !l.Valid() {
			return invalid("%s has a text in %q. The supported locales are %s.", what, string(l), localeList())
		}
		if n := utf8.RuneCountInString(s); n == 0 || n > limit || !utf8.ValidString(s) {
			return invalid("%s has a text in %q that does not have 1 to %d characters.", what, string(l), limit)
		}
	}
	return nil
}

// CheckPrice validates a price in minor units.
func CheckPrice(price int64) error {
	if price < 0 || price > MaxPrice {
		return invalid("A price must be a whole number of minor units from 0 to %d.", MaxPrice)
	}
	return nil
}

// CheckQuota validates a daily quota. Nil is unlimited; 0 sells none.
func CheckQuota(quota *int64) error {
	if quota != nil && (*quota < 0 || *quota > MaxQuota) {
		return invalid("A daily quota must be a whole number from 0 to %d, or null for no limit.", MaxQuota)
	}
	return nil
}

// maxSlug is the maximum length of a slug in characters, without the number that makes it unique.
const maxSlug = 60

// SlugOf returns the nth slug of a branch's name, from 1: quan-hoa, quan-hoa-2. In public addresses a branch is
// identified by its slug or its id, so no slug consists of digits alone.
func SlugOf(name string, n int) string {
	slug := cmp.Or(text.Slug(name, maxSlug), "branch")
	if strings.Trim(slug, "0123456789") == "" {
		slug = "branch-" + slug
	}
	if n > 1 {
		slug += "-" + strconv.Itoa(n)
	}
	return slug
}
