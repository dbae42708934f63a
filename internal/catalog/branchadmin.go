package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/money"
)

// BranchStore stores branches; catalogsql implements it.
type BranchStore interface {
	Branch(ctx context.Context, id int64) (Branch, error)
	Branches(ctx context.Context) ([]Branch, error)        // in use
	RetiredBranches(ctx context.Context) ([]Branch, error) // no longer in use
	// CreateBranch stores a new branch and returns it with its id. If a branch was created under the same key, it
	// returns that branch, or ErrBranchKeyReused if its digest differs. An empty key matches no branch.
	CreateBranch(ctx context.Context, by authz.Actor, b Branch, key, digest string, now time.Time) (Branch, error)
	// ChangeBranch stores the result of change, which it calls under the branch's lock, and records the action in the
	// audit log. It changes nothing if change fails.
	ChangeBranch(ctx context.Context, by authz.Actor, id int64, action string, now time.Time,
		change func(Branch) (Branch, error)) (Branch, error)
	// ChangePricing stores the taxes, service charges and discounts of a branch after Pricing.Check. It fails with
	// ErrTaxMissing if a dish of the published menu would have no tax rate.
	ChangePricing(ctx context.Context, by authz.Actor, id int64, p Pricing, now time.Time) (Branch, error)
	// RetireBranch takes a branch out of use, or returns ErrBranchBusy. RestoreBranch takes it back into use, or
	// returns ErrTooManyBranches. Both do nothing for a branch that is already in that state.
	RetireBranch(ctx context.Context, by authz.Actor, id int64, now time.Time) (Branch, error)
	RestoreBranch(ctx context.Context, by authz.Actor, id int64, now time.Time) (Branch, error)
}

// ErrBizDay refuses a start hour that would change the current business date (I14), because sales of today would be
// counted on another date.
var ErrBizDay = fault.New(fault.Conflict, "biz_day_running",
	"Changing the start hour now would change today's business date. Try again later today.")

// The refusals of a branch with orders or guests.
var (
	ErrBranchHasOrders = fault.New(fault.Conflict, "branch_has_orders",
		"This can no longer be changed, because the branch has orders.")
	ErrBranchBusy = fault.New(fault.Conflict, "branch_busy",
		"This branch has open tables or unfinished orders. Close the tables and finish the orders first.")
	ErrRetired = fault.New(fault.Conflict, "branch_retired", "This restaurant no longer takes orders.")
)

// BranchEdit is a change to a branch. Nil fields stay as they are.
type BranchEdit struct {
	Name       *string
	Country    *Country
	Currency   *money.Currency
	Timezone   *string
	Locales    []Locale
	DayStart   *int
	AutoClose  *time.Duration
	Open       *bool
	Hours      *OpeningHours
	SharedCart *bool
	MailFrom   *string
}

// concernsHouse reports whether the edit changes what only staff of all branches may change: the country with its money
// and time, as when a branch is created, and the sender, because it uses the mail server of the restaurant.
func (e BranchEdit) concernsHouse(b Branch) bool {
	return e.Country != nil && *e.Country != b.Country || e.Currency != nil && *e.Currency != b.Currency ||
		e.Timezone != nil && *e.Timezone != b.Timezone || e.MailFrom != nil && *e.MailFrom != b.MailFrom
}

// apply returns the changed branch.
func (e BranchEdit) apply(b Branch, now time.Time) (Branch, error) {
	current := b
	if e.Name != nil {
		name, err := cleanBranchName(*e.Name)
		if err != nil {
			return b, err
		}
		b.Name = name
	}
	if e.Locales != nil {
		if err := checkDistinct(e.Locales); err != nil {
			return b, err
		}
		b.Locales = slices.Clone(e.Locales)
	}
	set(&b.AutoClose, e.AutoClose)
	set(&b.Open, e.Open)
	set(&b.Hours, e.Hours)
	set(&b.SharedCart, e.SharedCart)
	set(&b.MailFrom, e.MailFrom)
	if e.Country != nil && !e.Country.Valid() {
		return b, ErrCountry
	}
	set(&b.Country, e.Country)
	set(&b.Currency, e.Currency)
	set(&b.Timezone, e.Timezone)
	set(&b.DayStart, e.DayStart)
	b, err := NewBranch(b)
	// Wrong values are refused first: advice about orders would not help to correct one.
	if err == nil {
		err = b.checkFixed(current)
	}
	// A branch without orders may change its time zone freely. Only the current business date is compared: orders
	// store their date, so past dates do not change.
	if err == nil && e.Timezone == nil && b.Calendar().BizDate(now) != current.Calendar().BizDate(now) {
		err = ErrBizDay
	}
	return b, err
}

// set changes a field to the value of an edit. Nil leaves it as it is.
func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// checkFixed refuses another value of a field that the first order fixes. An order stores its currency and business date,
// but reports and menus of a branch use one currency and one calendar.
func (b Branch) checkFixed(current Branch) error {
	if !current.HasOrders {
		return nil
	}
	switch {
	// A branch that an earlier release created has no country until it is set once.
	case b.Country != current.Country && current.Country != "":
		return ErrBranchHasOrders.With("field", "country")
	case b.Currency != current.Currency:
		return ErrBranchHasOrders.With("field", "currency")
	case b.Timezone != current.Timezone:
		return ErrBranchHasOrders.With("field", "timezone")
	case b.DayStart != current.DayStart:
		return ErrBranchHasOrders.With("field", "bizDayStartHour")
	}
	return nil
}

// checkDistinct refuses a locale that is listed twice. The order of locales is a preference, so it is kept.
func checkDistinct(all []Locale) error {
	if len(slices.Compact(slices.Sorted(slices.Values(all)))) < len(all) {
		return invalid("List each locale only once.")
	}
	return nil
}

// BranchAdmin manages branches for the staff. Changes are visible at once in this process and within a second in
// others.
type BranchAdmin struct {
	Store BranchStore
	Menus *MenuCache
	Now   func() time.Time
}

// Branches returns the branches that the actor may see.
func (a *BranchAdmin) Branches(ctx context.Context, by authz.Actor) ([]Branch, error) {
	all, err := a.Store.Branches(ctx)
	return slices.DeleteFunc(all, func(b Branch) bool { return !by.Sees(b.ID) }), err
}

// Branch returns a branch as stored in SQL. A branch that the actor may not see is ErrBranch.
func (a *BranchAdmin) Branch(ctx context.Context, by authz.Actor, id int64) (Branch, error) {
	if !by.Sees(id) {
		return Branch{}, ErrBranch
	}
	return a.Store.Branch(ctx, id)
}

// Edit changes a branch.
func (a *BranchAdmin) Edit(ctx context.Context, by authz.Actor, id int64, e BranchEdit) (Branch, error) {
	now := a.Now()
	return a.change(ctx, by, id, audit.ActionBranchEdited, now, func(b Branch) (Branch, error) {
		if !by.AllBranches && e.concernsHouse(b) {
			return b, authz.ErrForbidden
		}
		return e.apply(b, now)
	})
}

// Pause stops a branch from taking orders until an end. A pause already in force keeps its start and gets the new
// reason and end.
func (a *BranchAdmin) Pause(ctx context.Context, by authz.Actor, id int64, p Pause, until Until) (Branch, error) {
	now := a.Now()
	return a.change(ctx, by, id, audit.ActionBranchPaused, now, func(b Branch) (Branch, error) {
		var err error
		p.Since, p.By = now, by.String()
		// A new reason or end changes the running pause and does not begin another one.
		if running := b.Paused(now); running != nil {
			p.Since = running.Since
		}
		if p.Until, err = until.Instant(b.Calendar(), now); err != nil {
			return b, err
		}
		b.Pause = &p
		return b, p.check(now)
	})
}

// Resume ends a pause. It succeeds for a branch that is not paused.
func (a *BranchAdmin) Resume(ctx context.Context, by authz.Actor, id int64) (Branch, error) {
	return a.change(ctx, by, id, audit.ActionBranchResumed, a.Now(), func(b Branch) (Branch, error) {
		b.Pause = nil
		return b, nil
	})
}

// Retired returns the retired branches that the actor may see.
func (a *BranchAdmin) Retired(ctx context.Context, by authz.Actor) ([]Branch, error) {
	all, err := a.Store.RetiredBranches(ctx)
	return slices.DeleteFunc(all, func(b Branch) bool { return !by.Sees(b.ID) }), err
}

// Retire takes a branch out of use: QR codes and lists no longer lead to it. Its orders and reports stay. Like Create,
// it requires an actor who works in every branch.
func (a *BranchAdmin) Retire(ctx context.Context, by authz.Actor, id int64) (Branch, error) {
	return a.setRetired(ctx, by, id, a.Store.RetireBranch)
}

// Restore takes a retired branch back into use.
func (a *BranchAdmin) Restore(ctx context.Context, by authz.Actor, id int64) (Branch, error) {
	return a.setRetired(ctx, by, id, a.Store.RestoreBranch)
}

func (a *BranchAdmin) setRetired(
	ctx context.Context, by authz.Actor, id int64,
	write func(context.Context, authz.Actor, int64, time.Time) (Branch, error),
) (Branch, error) {
	if !by.AllBranches {
		return Branch{}, authz.ErrForbidden
	}
	b, err := write(ctx, by, id, a.Now())
	a.Menus.changed(ctx, err, b.ID)
	return b, err
}

// change stores the result of edit and invalidates the branch in every process. edit may run more than once, if the
// transaction is retried.
func (a *BranchAdmin) change(
	ctx context.Context, by authz.Actor, id int64, action string, now time.Time, edit func(Branch) (Branch, error),
) (Branch, error) {
	b, err := a.Store.ChangeBranch(ctx, by, id, action, now, edit)
	a.Menus.changed(ctx, err, b.ID)
	return b, err
}

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
	name, err := cleanBranchName(r.Name)
	if err != nil {
		return Branch{}, err
	}
	p, known := r.Country.Profile()
	b := Branch{
		Name: name, Country: r.Country, Currency: r.Currency, Timezone: r.Timezone, DayStart: p.DayStart,
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

// Copy creates a branch with the settings, opening hours and menus of another, without tables, people and stock, and
// without its sender of e-mails. A repeated request returns the first result, and completes it if menus are missing.
// The copy has the published menus with their schedules; drafts stay with the original. A menu that was never published
// is copied as a draft, if the original has no other.
func (a *BranchAdmin) Copy(ctx context.Context, by authz.Actor, menus *MenuFiles, r BranchCopy) (Branch, error) {
	if !by.AllBranches {
		return Branch{}, authz.ErrForbidden
	}
	if utf8.RuneCountInString(r.ClientTxnID) > maxClientID {
		return Branch{}, invalid("clientTxnId must have 1 to %d characters.", maxClientID)
	}
	name, err := cleanBranchName(r.Name)
	if err != nil {
		return Branch{}, err
	}
	b, err := a.Branch(ctx, by, r.From)
	if err != nil {
		return Branch{}, err
	}
	sources, err := menus.Store.PublishedMenus(ctx, by, r.From)
	if err != nil {
		return Branch{}, err
	}
	b.Name, b.Open, b.Pause, b.RetiredAt, b.HasOrders, b.Revision = name, true, nil, time.Time{}, false, 1
	b.MailFrom, b.Slug = "", "" // both belong to the original
	if b, err = NewBranch(b); err != nil {
		return Branch{}, err
	}
	// The settings of the original are not part of the digest: they may change before a repetition.
	if b, err = a.Store.CreateBranch(ctx, by, b, r.ClientTxnID, digestOf("copy", r.From, r.Name), a.Now()); err != nil {
		return Branch{}, err
	}
	a.Menus.Invalidate(ctx, b.ID)
	for i, source := range sources {
		made := NewMenu{source.Name, source.Schedule, i}
		o := ImportOptions{Publish: source.DraftID == 0}
		if _, err := menus.copyTo(ctx, by, source.MenuState, b.ID, &made, o); err != nil {
			return b, err
		}
	}
	return b, nil
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
