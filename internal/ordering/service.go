package ordering

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/payment"
	"comanda/internal/stock"
	"comanda/internal/uid"
)

// Config is what an installation decides about orders. The zero value of a limit means no limit.
type Config struct {
	PaymentWindow time.Duration // from placing to what the guest is told
	CounterWindow time.Duration // the same at the counter, where guests stand in a queue; 0: no other
	ExpiryGrace   time.Duration // from there to the deadline that decides
	Limits        Limits
}

// Defaults are the figures of an installation that says nothing.
func Defaults() Config {
	return Config{
		PaymentWindow: 15 * time.Minute,
		CounterWindow: 45 * time.Minute,
		ExpiryGrace:   90 * time.Second,
		Limits:        Limits{UnpaidPerGuest: 5, UnpaidPerVisit: 20},
	}
}

const maxWindow = 24 * time.Hour

// Validate tells what is wrong with a configuration.
func (c Config) Validate() error {
	if c.PaymentWindow < time.Second || c.PaymentWindow > maxWindow {
		return fault.New(fault.Invalid, "invalid", "The payment window is between one second and a day.")
	}
	if c.CounterWindow != 0 && (c.CounterWindow < time.Second || c.CounterWindow > maxWindow) {
		return fault.New(fault.Invalid, "invalid", "The counter window is between one second and a day.")
	}
	if c.ExpiryGrace < 0 || c.ExpiryGrace > time.Hour {
		return fault.New(fault.Invalid, "invalid", "The expiry grace is between nothing and an hour.")
	}
	return nil
}

// window is how long an order may wait for a method's money.
func (c Config) window(m payment.Method) time.Duration {
	if m == payment.Counter && c.CounterWindow != 0 {
		return c.CounterWindow
	}
	return c.PaymentWindow
}

// Catalog gives a branch, and the menu version that an order is pinned to, whether or not it is still published.
type Catalog interface {
	Branch(ctx context.Context, id int64) (catalog.Branch, error)
	Version(ctx context.Context, branch, version int64) (*catalog.Snapshot, error)
}

// Gate admits or refuses ahead of the ledger. It never fails: what it cannot tell, it leaves to the ledger.
type Gate interface {
	Reserve(ctx context.Context, h stock.Hold) stock.AdmissionResult
	// Abandon gives a lease back after the ledger has decided against the order.
	DropProvisional(h stock.Hold)
}

// Recipes tells what one portion of each menu item takes of a branch's stock.
type Recipes interface {
	ForBranch(ctx context.Context, branch int64) (map[int64][]stock.Line, error)
}

// Reader reads orders as they are in SQL.
type Reader interface {
	Order(ctx context.Context, id string) (Detail, bool, error)
	OfMember(ctx context.Context, user int64, limit, offset int) (orders []Order, total int64, err error)
	OfVisit(ctx context.Context, visit string, limit, offset int) (orders []Order, total int64, err error)
	TableOf(ctx context.Context, visit string) (label string, err error)
	Exceptions(ctx context.Context, branch int64, limit int) (Exceptions, error)
	Overdue(ctx context.Context, now time.Time, limit int) ([]string, error)
}

// Detail is an order with everything that happened to its money.
type Detail struct {
	Order
	Attempts []payment.Attempt
	Refunds  []payment.Refund
	Steps    []StepTaken // in the kitchen, the first one first
}

// Service is the use cases of ordering.
type Service struct {
	Config   Config
	Ledger   Ledger
	Gate     Gate
	Reader   Reader
	Catalog  Catalog
	Carts    Carts
	Recipes  Recipes // nil: dishes take nothing of the stock
	Methods  payment.Methods
	Gateways map[payment.Method]payment.Gateway // those of Methods that are somebody else's servers
	Payments Payments
	ReturnTo string // base of our own addresses, where gateways send guests back to
	Log      *slog.Logger
	Now      func() time.Time // the deciding clock
	Metrics  *Metrics

	flights flights
	talks   sync.WaitGroup // with gateways, that outlive the requests that began them
}

// Close waits for talks with gateways that have begun, until ctx ends. Whoever goes before their end leaves attempts
// that are asked about later.
func (s *Service) Close(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.talks.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

func (s *Service) newID() string { return uid.New(s.Now()) }

// Guest is who acts at a table.
type Guest struct {
	Branch  int64
	VisitID string
	Hash    string // of the customer token
}

// visible gives an order to a guest of the same visit; to anybody else there is no such order.
func (s *Service) visible(ctx context.Context, g Guest, id string) (Detail, error) {
	if !uid.Valid(id) {
		return Detail{}, ErrNotFound
	}
	d, found, err := s.Reader.Order(ctx, id)
	if err != nil {
		return Detail{}, err
	}
	if !found || d.VisitID == "" || d.VisitID != g.VisitID { // a member's order belongs to no visit
		return Detail{}, ErrNotFound
	}
	return d, nil
}

// Order reads one order of the guest's visit.
func (s *Service) Order(ctx context.Context, g Guest, id string) (Detail, error) {
	return s.visible(ctx, g, id)
}

// Orders reads a page of the visit's orders, the newest first.
func (s *Service) Orders(ctx context.Context, g Guest, limit, offset int) ([]Order, int64, error) {
	return s.Reader.OfVisit(ctx, g.VisitID, limit, offset)
}

// StaffOrder reads an order of a branch that the actor sees.
func (s *Service) StaffOrder(ctx context.Context, by identity.Actor, id string) (Detail, error) {
	d, err := s.order(ctx, id)
	if err == nil && !by.Sees(d.Scope.Branch) {
		return Detail{}, ErrNotFound
	}
	return d, err
}

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
