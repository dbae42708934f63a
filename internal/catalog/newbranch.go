package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/money"
)

// MaxBranches limits the branches in use. Lists of branches have no pages.
const MaxBranches = 200

// maxClientID is the maximum length of a clientTxnId in characters, as for stock adjustments.
const maxClientID = 64

// defaultAutoClose is the idle time after which visits of a new branch close.
const defaultAutoClose = 2 * time.Hour

// The faults of creating a branch.
var (
	ErrTooManyBranches = fault.New(fault.Conflict, "branch_limit",
		"The limit of branches is reached. Archive one that is no longer used.")
	ErrBranchKeyReused = fault.New(fault.Invalid, "idempotency_mismatch", "This clientTxnId was used for another branch.")
)

// NewBranchRequest is a request for a new branch. Fields that are not set get the defaults of the country's profile.
type NewBranchRequest struct {
	Name     string
	Country  Country
	Locales  []Locale
	Currency money.Currency
	Timezone string
	DayStart *int

	// ClientTxnID is an idempotency key; empty for none. A repetition of the request returns the branch that the first
	// one created.
	ClientTxnID string
}

// Digest identifies the content of the request. A repetition has the same one.
func (r NewBranchRequest) Digest() string {
	return digestOf(r.Name, r.Country, r.Locales, r.Currency, r.Timezone, r.DayStart)
}

func digestOf(content ...any) string {
	text, _ := json.Marshal(content) // always marshals
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// Branch returns the branch that the request describes.
func (r NewBranchRequest) Branch() (Branch, error) {
	if utf8.RuneCountInString(r.ClientTxnID) > maxClientID {
		return Branch{}, invalid("clientTxnId must have 1 to %d characters.", maxClientID)
	}
	if !r.Country.Valid() {
		return Branch{}, ErrCountry
	}
	p, known := r.Country.Profile()
	b := Branch{
		Name: r.Name, Country: r.Country, Currency: r.Currency, Timezone: r.Timezone, DayStart: p.DayStart,
		Locales: p.Locales, AutoClose: defaultAutoClose, Open: true, Revision: 1,
	}
	switch {
	case b.Currency != "":
	case !known:
		return Branch{}, ErrCurrencyRequired
	default:
		b.Currency = p.Currency
	}
	switch {
	case b.Timezone != "":
	case len(p.Timezones) != 1:
		return Branch{}, ErrTimezoneRequired.With("timezones", slices.Concat([]string{}, p.Timezones))
	default:
		b.Timezone = p.Timezones[0]
	}
	if !known {
		b.DayStart, b.Locales = usualDayStart, []Locale{English}
	}
	set(&b.DayStart, r.DayStart)
	if len(r.Locales) > 0 {
		b.Locales = r.Locales
	}
	if err := checkDistinct(b.Locales); err != nil {
		return Branch{}, err
	}
	return NewBranch(b)
}

// BranchCopy is a request for a copy of a branch.
type BranchCopy struct {
	From        int64
	Name        string
	ClientTxnID string // as of NewBranchRequest
}

// Copy creates a branch with the settings, opening hours and menu of another, without tables, people and stock, and
// without its sender of e-mails. A repeated request returns the first result, and completes it if its menu is missing.
// The copy has the published menu; drafts stay with the original. A menu that was never published is copied as a
// draft.
func (a *BranchAdmin) Copy(ctx context.Context, by authz.Actor, menus *MenuFiles, r BranchCopy) (Branch, error) {
	if !by.AllBranches {
		return Branch{}, authz.ErrForbidden
	}
	if utf8.RuneCountInString(r.ClientTxnID) > maxClientID {
		return Branch{}, invalid("clientTxnId must have 1 to %d characters.", maxClientID)
	}
	source, err := menus.Store.PublishedMenu(ctx, by, r.From)
	if err != nil {
		return Branch{}, err
	}
	b := source.Branch
	b.Name, b.Open, b.Pause, b.RetiredAt, b.HasOrders, b.Revision = r.Name, true, nil, time.Time{}, false, 1
	b.MailFrom, b.Slug = "", "" // both belong to the original
	if b, err = NewBranch(b); err != nil {
		return Branch{}, err
	}
	// The settings of the original are not part of the digest: they may change before a repetition.
	if b, err = a.Store.CreateBranch(ctx, by, b, r.ClientTxnID, digestOf("copy", r.From, r.Name), a.Now()); err != nil {
		return Branch{}, err
	}
	a.Menus.Invalidate(ctx, b.ID)
	copied, err := menus.Store.MenuState(ctx, by, b.ID)
	if err != nil || copied.MenuID != 0 || source.MenuID == 0 {
		return b, err
	}
	_, err = menus.copyTo(ctx, by, source, b.ID, ImportOptions{Publish: source.DraftID == 0})
	return b, err
}

// Create creates a branch without tables and menus. It requires an actor who works in every branch, because others
// could not see the new branch.
func (a *BranchAdmin) Create(ctx context.Context, by authz.Actor, r NewBranchRequest) (Branch, error) {
	if !by.AllBranches {
		return Branch{}, authz.ErrForbidden
	}
	b, err := r.Branch()
	if err != nil {
		return Branch{}, err
	}
	b, err = a.Store.CreateBranch(ctx, by, b, r.ClientTxnID, r.Digest(), a.Now())
	// No reader can have cached the new id. Other processes are notified nevertheless, because they cache lists of
	// branches.
	if err == nil {
		a.Menus.Invalidate(ctx, b.ID)
	}
	return b, err
}
