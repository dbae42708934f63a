package ordering

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"comanda/internal/authz"
	"comanda/internal/cache"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/stock"
	"comanda/internal/uid"
)

// Config is the configuration of ordering. A limit of zero means no limit.
type Config struct {
	PaymentWindow time.Duration // from placement to the deadline shown to the guest
	CounterWindow time.Duration // the same for payment at the counter, where guests queue; 0: PaymentWindow
	ExpiryGrace   time.Duration // from the deadline shown to the one that expires the order
	Limits        Limits
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		PaymentWindow: 15 * time.Minute,
		CounterWindow: 45 * time.Minute,
		ExpiryGrace:   90 * time.Second,
		Limits:        Limits{UnpaidPerGuest: 5, UnpaidPerVisit: 20},
	}
}

// maxWindow is the largest payment window. A longer one would reserve units for unpaid orders for days.
const maxWindow = 24 * time.Hour

var errWindow = errors.New("must be from 1s to 24h")

// Validate returns an error if a value is out of range. A grace of zero is valid: orders then expire at the deadline
// that their guests see.
func (c Config) Validate() error {
	if c.PaymentWindow < time.Second || c.PaymentWindow > maxWindow {
		return fault.InField("payment_window", "window_range", errWindow)
	}
	if c.CounterWindow != 0 && (c.CounterWindow < time.Second || c.CounterWindow > maxWindow) {
		return fault.InField("counter_window", "window_range", errWindow)
	}
	if c.ExpiryGrace < 0 || c.ExpiryGrace > time.Hour {
		return fault.InField("expiry_grace", "grace_range", errors.New("must be from 0s to 1h"))
	}
	return nil
}

// window returns the payment window of a method. If CounterWindow is zero, the counter uses PaymentWindow.
func (c Config) window(m payment.Method) time.Duration {
	if m == payment.Counter && c.CounterWindow != 0 {
		return c.CounterWindow
	}
	return c.PaymentWindow
}

// Settings are the values that the owner may change at run time. A returned value is never modified.
type Settings struct {
	Config

	Methods  payment.Methods
	Gateways map[payment.Method]payment.Gateway // clients of the methods that have a remote gateway
	ReturnTo string                             // base URL that gateways redirect guests to
}

// Catalog returns branches, and menu versions whether or not they are still published.
type Catalog interface {
	// Branch returns catalog.ErrBranch for an unknown id.
	Branch(ctx context.Context, id int64) (catalog.Branch, error)
	// Version returns catalog.ErrVersion for a version that the branch has never published. It accepts versions that are
	// replaced by now: a request may be a repetition, and only the ledger refuses them.
	Version(ctx context.Context, branch, version int64) (*catalog.Snapshot, error)
}

// Recipes returns the stock items that one portion of each menu item consumes.
type Recipes interface {
	// ForBranch returns the recipes of a branch by menu item. Concurrent calls may share the map, so callers must not
	// change it.
	ForBranch(ctx context.Context, branch int64) (map[int64][]stock.Line, error)
}

// Reader reads committed orders from SQL.
type Reader interface {
	// Order returns one order; false if there is none. It checks no access: the caller does.
	Order(ctx context.Context, id string) (Detail, bool, error)
	// OfMember and OfVisit return a page, newest first, and the number of all orders.
	OfMember(ctx context.Context, user int64, limit, offset int) (orders []Order, total int64, err error)
	OfVisit(ctx context.Context, visit string, limit, offset int) (orders []Order, total int64, err error)
	// Phones returns the hashes of the phones of a visit that ordered or added to its shared cart, in the order in which
	// they first did.
	Phones(ctx context.Context, visit string) ([]string, error)
	// TableOf returns the visit's table, even after the visit has closed; the zero value for an unknown visit.
	TableOf(ctx context.Context, visit string) (Table, error)
	// Exceptions returns the payments that need the staff, at most limit of each kind, oldest first.
	Exceptions(ctx context.Context, branch int64, limit int) (Exceptions, error)
	// Overdue returns unpaid orders that are past their deadline at now, oldest first. It takes no locks, so an order may
	// be paid or extended before the caller ends it.
	Overdue(ctx context.Context, now time.Time, limit int) ([]string, error)
	// ReadyTimes returns how long a branch's orders took from payment to ready: of at most limit orders, those with the
	// latest step since an instant.
	ReadyTimes(ctx context.Context, branch int64, since time.Time, limit int) ([]time.Duration, error)
}

// Table is the table of a visit.
type Table struct {
	ID    int64
	Label string
}

// Detail is an order with its payment attempts, refunds and kitchen steps.
type Detail struct {
	Order
	Attempts []payment.Attempt
	Refunds  []payment.Refund
	Steps    []StepTaken // in the kitchen, oldest first

	// ExpectedAt is the estimated time at which a paid order will be ready; zero if it is ready, or if there is no
	// estimate.
	ExpectedAt time.Time
}

// Service implements the use cases of ordering. It is safe for concurrent use.
type Service struct {
	Settings  func() Settings // returns the current settings; they may change between two calls
	Ledger    Executor
	Admission stock.Admission
	Reader    Reader
	Catalog   Catalog
	Carts     Carts
	Recipes   Recipes   // nil: dishes consume no stock
	Vouchers  *Vouchers // nil: no code is valid
	Payments  Payments
	Log       *slog.Logger
	Now       func() time.Time // the clock that deadlines are decided by
	Metrics   *Metrics
	// UnpaidOfMember returns how many unpaid orders a member may have at a time; 0 for the limit of every guest. It may
	// be nil.
	UnpaidOfMember func(ctx context.Context, user int64) (int, error)
	// CartOrdered is called after an order has taken lines of a shared cart, to notify the phones of the visit. It
	// must not block; it may be nil.
	CartOrdered func(branch int64, visit string)

	placing      placements                        // requests in progress, see placeIdempotent
	cookingTimes cache.Cache[int64, time.Duration] // by branch; 0: unknown
	captures     sync.WaitGroup                    // running captures, which may outlive their requests
}

// Close waits for running captures until ctx ends. Attempts that are still unfinished are checked by CheckPayments
// later. Call it after the server and the loops have stopped: no capture may start while it waits, and the ledger must
// still run to record the outcomes.
func (s *Service) Close(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.captures.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

func (s *Service) newID() string { return uid.New(s.Now()) }

// Guest is the phone of a guest at a table.
type Guest struct {
	Branch  int64
	VisitID string
	Hash    string // of the phone, see visit.Guest.ShortHash
}

// Member is a member who acts on one of their own orders.
type Member authz.Actor

// Staff is a member of the staff who acts on an order of a branch.
type Staff authz.Actor

// Requester acts on an order: a Guest, a Member or Staff.
type Requester interface {
	// sees reports whether the requester may see an order.
	sees(o *Order) bool
}

// sees implements Requester. All phones of a table see all orders of its visit. A member's order has no visit.
func (g Guest) sees(o *Order) bool { return o.VisitID != "" && o.VisitID == g.VisitID }

// sees implements Requester. UserID 0 marks orders of guests, which no member may read.
func (m Member) sees(o *Order) bool { return o.UserID != 0 && o.UserID == m.UserID }

// sees implements Requester.
func (s Staff) sees(o *Order) bool { return authz.Actor(s).Sees(o.Scope.Branch) }

// Order returns an order that the requester may see. For any other order it returns ErrNotFound, as for a missing one,
// so that ids reveal nothing.
func (s *Service) Order(ctx context.Context, by Requester, id string) (Detail, error) {
	d, err := s.order(ctx, id)
	if err == nil && !by.sees(&d.Order) {
		return Detail{}, ErrNotFound
	}
	if err == nil {
		s.expect(ctx, &d)
	}
	return d, err
}

// VisitOrder is an order of a visit with the phone that placed it. Phones are numbered from 1 by their first order or
// line in the shared cart, so that a table can tell who ordered without names, and a number stays the same for the whole
// visit.
type VisitOrder struct {
	Order
	Phone int
	Mine  bool // placed by the guest who reads
}

// Orders returns a page of the visit's orders, newest first, and the total number.
func (s *Service) Orders(ctx context.Context, g Guest, limit, offset int) ([]VisitOrder, int64, error) {
	orders, total, err := s.Reader.OfVisit(ctx, g.VisitID, limit, offset)
	if err != nil || len(orders) == 0 {
		return nil, total, err
	}
	phones, err := s.Reader.Phones(ctx, g.VisitID) // after the orders, so that it contains each order's phone
	page := make([]VisitOrder, len(orders))
	for i, o := range orders {
		page[i] = VisitOrder{Order: o, Phone: slices.Index(phones, o.GuestHash) + 1, Mine: o.GuestHash == g.Hash}
	}
	return page, total, err
}

// order returns any order, or ErrNotFound. An id in a wrong form needs no query. It checks no access.
func (s *Service) order(ctx context.Context, id string) (Detail, error) {
	if !uid.Valid(id) {
		return Detail{}, ErrNotFound
	}
	d, found, err := s.Reader.Order(ctx, id)
	if err == nil && !found {
		err = ErrNotFound
	}
	return d, err
}

// MemberOrders returns a page of a member's orders, newest first, and the total number.
func (s *Service) MemberOrders(ctx context.Context, actor authz.Actor, limit, offset int) ([]Order, int64, error) {
	return s.Reader.OfMember(ctx, actor.UserID, limit, offset)
}

// Counter is a counter metric. Count adds one under the given label values.
type Counter interface {
	Count(labels ...string)
}

// Metrics counts orders and payments. Labels are in the order given. A nil Metrics counts nothing. Every label value is
// from a closed list: ids or texts of requests would add time series without a limit.
type Metrics struct {
	Created    Counter // result
	Transition Counter // to, cause
	Callback   Counter // method, result
	Step       Counter // kind
}

// placed counts a request to place an order as created, as repeated, or under the kind of its refusal. The first
// request and its repetitions count once each, so created counts an order once at most.
func (m *Metrics) placed(err error, isNew bool) {
	if m == nil {
		return
	}
	result := "created"
	switch {
	case err != nil:
		result = fault.KindOf(err).String()
	case !isNew:
		result = "repeated"
	}
	m.Created.Count(result)
}

func (m *Metrics) ended(reason CancelReason) {
	if m != nil {
		m.Transition.Count(string(Canceled), string(reason))
	}
}

func (m *Metrics) stepped(kind StepKind) {
	if m != nil {
		m.Step.Count(strings.ToLower(string(kind)))
	}
}

// rejected counts a message that could not be applied, by its verdict.
func (m *Metrics) rejected(method payment.Method, verdict string) {
	if m != nil {
		m.Callback.Count(string(method), strings.ToLower(verdict))
	}
}

// reported counts a report that the ledger has decided, with the result ok, dup (nothing changed), late (the order
// cannot use the money), amount_mismatch, or the kind of the error. If the report has paid the order, it also counts
// the transition by the source of the report.
func (m *Metrics) reported(s Settle, r Result, err error) {
	if m == nil {
		return
	}
	result := "ok"
	switch {
	case errors.Is(err, payment.ErrAmount) && s.Source != SourceStaff: // a typing error, if the staff report it
		result = "amount_mismatch"
	case err != nil:
		result = fault.KindOf(err).String()
	case !r.Changed:
		result = "dup"
	case s.State == payment.Paid && r.Order.PaymentStatus == RefundDue:
		result = "late"
	}
	m.Callback.Count(string(s.Method), result)
	if err == nil && r.Changed && r.Order.PaymentStatus == Paid {
		m.Transition.Count(string(Paid), s.Source)
	}
}
