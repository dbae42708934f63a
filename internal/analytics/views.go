package analytics

import (
	"cmp"
	"context"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
)

// Limits of one batch of views (AN1). A phone shows some dozens of dishes between two batches.
const (
	MaxDishes = 100 // viewed, added and opened together
	MaxPages  = 20
)

// Page is a page of the guest app.
type Page string

// The pages that are counted.
const (
	MenuPage     Page = "menu"
	DishPage     Page = "dish"
	CartPage     Page = "cart"
	CheckoutPage Page = "checkout"
)

// Pages returns all pages, in the order in which a guest sees them.
func Pages() []Page { return []Page{MenuPage, DishPage, CartPage, CheckoutPage} }

// Views is one report of a phone: dishes whose cards or details were looked at, dishes that were added to a cart, and
// pages that were opened. Opened are the dishes whose details a member has opened; a card that was only scrolled past
// is no part of a history.
type Views struct {
	Viewed, Added, Opened []int64 // dish ids
	Pages                 []Page
	Searches              []string // texts as they were typed

	Visit string // the guest's visit; empty for a member
	User  int64  // the member; 0 for a guest
}

// errTooMany refuses batches above the limits.
var errTooMany = fault.Newf(fault.Invalid, "too_many_views", "Send at most %d dishes at once.", MaxDishes)

// check refuses a batch above the limits.
func (v Views) check() error {
	if len(v.Viewed)+len(v.Added)+len(v.Opened) > MaxDishes || len(v.Pages) > MaxPages || len(v.Searches) > MaxSearches {
		return errTooMany
	}
	return nil
}

// known returns the views without unknown dishes and pages, and without repetitions. Unknown ids would let a client
// create any number of rows. dropped is the number of unknown dishes.
func (v Views) known(menu *catalog.Edition) (_ Views, dropped int) {
	dishes := func(ids []int64) []int64 {
		ids = slices.Compact(slices.Sorted(slices.Values(ids)))
		n := len(ids)
		ids = slices.DeleteFunc(ids, func(id int64) bool {
			_, ok := menu.OfDish(id)
			return !ok
		})
		dropped += n - len(ids)
		return ids
	}
	v.Viewed, v.Added, v.Opened = dishes(v.Viewed), dishes(v.Added), dishes(v.Opened)
	v.Pages = slices.DeleteFunc(slices.Clone(v.Pages), func(p Page) bool { return !slices.Contains(Pages(), p) })
	return v, dropped
}

func (v Views) empty() bool { return len(v.Viewed)+len(v.Added)+len(v.Opened)+len(v.Pages) == 0 }

// BranchDay is a business date of a branch.
type BranchDay struct {
	Branch int64
	Date   string
}

// DishViews counts how often a dish was viewed and added to a cart.
type DishViews struct{ Dish, Viewed, Added int64 }

// PageCount counts how often a page was opened.
type PageCount struct {
	Page   Page
	Opened int64
}

// MemberCount counts how often a member has opened a dish, and has the last time.
type MemberCount struct {
	User, Dish, Viewed int64
	At                 time.Time
}

// ViewBatch contains the counters of a scope that a process has taken. Its lists are sorted, so that transactions lock
// rows in one order.
type ViewBatch struct {
	ID string
	BranchDay
	Dishes  []DishViews
	Pages   []PageCount
	Carts   []string // visits in which a dish was added to a cart
	Members []MemberCount
}

// Sort sorts the lists.
func (b ViewBatch) Sort() {
	slices.SortFunc(b.Dishes, func(x, y DishViews) int { return cmp.Compare(x.Dish, y.Dish) })
	slices.SortFunc(b.Pages, func(x, y PageCount) int { return cmp.Compare(x.Page, y.Page) })
	slices.Sort(b.Carts)
	slices.SortFunc(b.Members, func(x, y MemberCount) int {
		return cmp.Or(cmp.Compare(x.User, y.User), cmp.Compare(x.Dish, y.Dish))
	})
}

// Counters collects views until they are added to SQL. It is safe for concurrent use.
type Counters interface {
	// Add counts views at an instant.
	Add(ctx context.Context, s BranchDay, v Views, at time.Time) error
	// Take returns the batch of a scope that was taken and not yet removed by Done; else it takes the counters under
	// the given id. ok is false if there are none. Several callers may take the same batch.
	Take(ctx context.Context, s BranchDay, id string) (b ViewBatch, ok bool, err error)
	// Done removes a taken batch, once it is in SQL. It does not remove another batch of the scope.
	Done(ctx context.Context, b ViewBatch) error
}

// Store is the part of SQL that the service needs; analyticssql implements it.
type Store interface {
	// Branches returns the ids of all branches.
	Branches(ctx context.Context) ([]int64, error)
	// AddBatch adds the counters of a batch, unless that was done before (AN3).
	AddBatch(ctx context.Context, b ViewBatch) error
	// Scores returns the dishes of a branch by units sold or views in business dates, both ends included.
	Scores(ctx context.Context, board RankBoard, branch int64, from, to string) ([]Score, error)
	// Seen returns the dishes that a member has viewed since the history begins, newest first.
	Seen(ctx context.Context, user int64, limit int) ([]Seen, error)
	// Usual returns the dishes that a member has ordered since an instant and since the history begins, most orders first.
	Usual(ctx context.Context, user int64, since time.Time, limit int) ([]Usual, error)
	// ClearHistory deletes a member's views and begins a new history.
	ClearHistory(ctx context.Context, user int64) error
	// SearchPosition returns how far a log was read; empty if not at all.
	SearchPosition(ctx context.Context, log, date string) (string, error)
	// AddSearches adds a batch and moves the position of its log, unless the position is no longer where the batch
	// begins (AN8).
	AddSearches(ctx context.Context, b SearchBatch) error
	// PopularSearches returns the texts of a branch that at least some visitors have searched and found since a business
	// date, most visitors first.
	PopularSearches(ctx context.Context, branch int64, since string, visitors, limit int) ([]string, error)
}

// Collector collects what phones report until it is added to SQL.
type Collector interface {
	Counters
	SearchLog
}

// Menus returns branches and menus, normally catalog.MenuCache.
type Menus interface {
	Branch(ctx context.Context, id int64) (catalog.Branch, error)
	Active(ctx context.Context, branch int64) (*catalog.Snapshot, error)
}

// LiveMenus returns menus with the remaining units, normally catalog.LiveMenus.
type LiveMenus interface {
	Get(ctx context.Context, branch int64) (*catalog.LiveMenu, error)
}

// Cache is everything that is stored outside of SQL; analyticsredis and analyticsmemory implement it.
type Cache interface {
	Collector
	Rankings
	Histories
}

// Service counts views and searches, and reads rankings, suggestions and histories.
type Service struct {
	Store Store
	Cache Cache
	// Fallback counts in this process while Cache is unreachable (AN2). Nil if Cache is in this process.
	Fallback  Collector
	Menus     Menus
	LiveMenus LiveMenus
	Now       func() time.Time
	NewID     func() string // of a batch
	Searches  *SearchCache  // nil keeps nothing
	Counted   func(result string)

	CountedSearch func(result string)
}

// Results returns the values that Counted receives: dishes counted in the cache, counted in this process, or dropped
// because they are unknown or no counters could be reached.
func Results() []string { return []string{"counted", "fallback", "dropped"} }

// Record counts the views and searches of a guest or a member in a branch.
func (s *Service) Record(ctx context.Context, branch int64, v Views) error {
	if err := v.check(); err != nil {
		return err
	}
	menu, err := s.Menus.Active(ctx, branch)
	if err != nil {
		return err
	}
	v, dropped := v.known(menu.Edition)
	s.count("dropped", dropped)
	now := s.Now()
	scope, n := BranchDay{branch, menu.Branch.Calendar().BizDate(now)}, len(v.Viewed)+len(v.Added)
	if !v.empty() {
		s.count(s.add(ctx, scope, v, now), n)
	}
	if len(v.Searches) > 0 {
		s.recordSearches(ctx, menu, scope.Date, v)
	}
	return nil
}

// add counts views in the cache, else in this process, and returns the result. A failure is not returned: the Redis
// client has counted it, and a view is not worth an error on a phone.
func (s *Service) add(ctx context.Context, scope BranchDay, v Views, now time.Time) (result string) {
	switch {
	case s.Cache.Add(ctx, scope, v, now) == nil:
		return "counted"
	case s.Fallback != nil && s.Fallback.Add(ctx, scope, v, now) == nil:
		return "fallback"
	}
	return "dropped"
}

func (s *Service) count(result string, n int) {
	for range n {
		s.Counted(result)
	}
}

// Flush adds the counters and the searches of all branches to SQL. It covers today and yesterday, because a business date
// may end between a view and the next round. A failure leaves the batch where it is, and the next round, or another process,
// adds it.
func (s *Service) Flush(ctx context.Context) error {
	branches, err := s.Store.Branches(ctx)
	if err != nil {
		return err
	}
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	var dates []string
	for _, id := range branches {
		b, err := s.Menus.Branch(ctx, id)
		if err != nil {
			keep(err)
			continue
		}
		now := s.Now()
		for _, at := range []time.Time{now.AddDate(0, 0, -1), now} {
			scope := BranchDay{id, b.Calendar().BizDate(at)}
			dates = append(dates, scope.Date)
			if s.Fallback != nil {
				keep(s.flush(ctx, s.Fallback, scope))
			}
			keep(s.flush(ctx, s.Cache, scope))
		}
	}
	keep(s.flushSearches(ctx, dates))
	return first
}

// flush adds the counters of one scope. A batch that was left behind is added first, then the current counters.
func (s *Service) flush(ctx context.Context, from Counters, scope BranchDay) error {
	for range 2 {
		id := s.NewID()
		b, ok, err := from.Take(ctx, scope, id)
		if err != nil || !ok {
			return err
		}
		if err := s.Store.AddBatch(ctx, b); err != nil {
			return err
		}
		if err := from.Done(ctx, b); err != nil || b.ID == id {
			return err
		}
	}
	return nil
}

// Seen is a dish that a member has looked at.
type Seen struct {
	Dish int64
	At   time.Time
}

// ByTime compares dishes by descending instant, and those of one instant by dish.
func ByTime(a, b Seen) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Dish, b.Dish)) }

// Usual is a dish that a member orders often.
type Usual struct{ Dish, Orders int64 }

// MaxSeen is the number of dishes in a list of seen dishes.
const MaxSeen = 30

const (
	maxUsual   = 8
	minOrders  = 2 // orders that make a dish a usual one
	usualYears = 1
)

// Histories stores the dishes that members have seen. A lost list is read from SQL.
type Histories interface {
	// Seen returns up to MaxSeen dishes of a member, newest first; ok is false if the list is missing or empty.
	Seen(ctx context.Context, user int64) (all []Seen, ok bool, err error)
	// SetSeen stores a member's dishes. Add then adds the member's views to the list.
	SetSeen(ctx context.Context, user int64, all []Seen) error
	// DropSeen removes a member's list.
	DropSeen(ctx context.Context, user int64) error
}

// DishHistory contains the dishes that one member has seen.
type DishHistory struct {
	Seen  []Seen  // newest first
	Usual []Usual // most orders first
}

// errAccount refuses callers without an account, such as the service token.
var errAccount = fault.New(fault.Forbidden, "account_needed", "This requires an account.")

// HistoryOf returns the caller's own history (AN6).
func (s *Service) HistoryOf(ctx context.Context, by authz.Actor) (h DishHistory, err error) {
	if by.Kind != authz.Account {
		return h, errAccount
	}
	seen, ok, err := s.Cache.Seen(ctx, by.UserID)
	if err != nil || !ok {
		if seen, err = s.history(ctx, by.UserID); err != nil {
			return h, err
		}
	}
	usual, err := s.Store.Usual(ctx, by.UserID, s.Now().AddDate(-usualYears, 0, 0), maxUsual)
	for _, u := range usual {
		if u.Orders >= minOrders {
			h.Usual = append(h.Usual, u)
		}
	}
	h.Seen = seen
	return h, err
}

// history reads a member's list from SQL and stores it. The counters are flushed first, because they have the newest
// views. If that fails, the list lacks them until it expires.
func (s *Service) history(ctx context.Context, user int64) ([]Seen, error) {
	_ = s.Flush(ctx)
	seen, err := s.Store.Seen(ctx, user, MaxSeen)
	if err != nil {
		return nil, err
	}
	_ = s.Cache.SetSeen(ctx, user, seen)
	return seen, nil
}

// ClearHistory deletes the caller's own history: rows, keys, and the views that are still in counters (AN6).
func (s *Service) ClearHistory(ctx context.Context, by authz.Actor) error {
	if by.Kind != authz.Account {
		return errAccount
	}
	if err := s.Store.ClearHistory(ctx, by.UserID); err != nil {
		return err
	}
	// If Redis is unreachable, the list expires after a few minutes; until then the member could still see it.
	return s.Cache.DropSeen(ctx, by.UserID)
}
