package notice

import (
	"context"
	"slices"
	"time"

	"comanda/internal/fault"
	"comanda/internal/live"
)

// MaxUnread is the highest number of unread notices that is counted; bells show "99+" for it.
const MaxUnread = 100

// FirstPage is the number of notices in an event of a stream.
const FirstPage = 20

// Faults of notices.
var (
	ErrNotice = fault.New(fault.NotFound, "notice_not_found", "Notice not found.")
	ErrChoice = fault.New(fault.Invalid, "invalid", "Each kind of notice is chosen once, and staff notices have no push.")
)

// State identifies what a bell shows. It changes with each new notice and each read mark of a notice that an event lists.
type State struct {
	Newest string // id of the newest notice; empty for none
	Unread int    // up to MaxUnread
	Listed int    // unread ones among the newest FirstPage, which change while Unread stays at its maximum
}

// Store stores notices; noticesql implements it.
type Store interface {
	// List returns notices of a reader, newest first: those older than the id before, or all if it is empty.
	List(ctx context.Context, r Reader, before string, limit int) ([]UserNotice, error)
	State(ctx context.Context, r Reader) (State, error)
	// MarkRead marks a notice. It returns ErrNotice if the reader does not see it.
	MarkRead(ctx context.Context, r Reader, id string, now time.Time) error
	// MarkAllRead marks the notices up to an id, so that those that arrive meanwhile stay unread.
	MarkAllRead(ctx context.Context, r Reader, upTo string, now time.Time) error
	// Choices returns the choices that a reader has made.
	Choices(ctx context.Context, reader string) ([]Choice, error)
	SetChoices(ctx context.Context, reader string, all []Choice, now time.Time) error
	// Subscribe stores a browser, or moves it to the reader who uses it now. Beyond a number of browsers of a reader,
	// the oldest are removed.
	Subscribe(ctx context.Context, s Subscription, limit int) error
	Unsubscribe(ctx context.Context, reader, id string) error
}

// Service serves bells. It is safe for concurrent use.
type Service struct {
	Store Store
	Now   func() time.Time
	// OnChange reports to other processes that the notices of readers have changed; it must not block, and may be nil.
	OnChange func(readers ...string)

	changes live.Topic[string]
}

// Page is a part of a reader's notices, newest first.
type Page struct {
	State

	Items []UserNotice
	More  bool // there are older ones
}

// Page returns notices of a reader that are older than the id before, or the newest.
func (s *Service) Page(ctx context.Context, r Reader, before string, limit int) (p Page, err error) {
	// A notice may arrive between the two reads. Then both are repeated once, so that the bell counts what it lists. The
	// state is read first: if another one arrives, it is older than the items, and streams send the page again.
	for range 2 {
		if p.State, err = s.Store.State(ctx, r); err != nil {
			return Page{}, err
		}
		if p.Items, err = s.Store.List(ctx, r, before, limit+1); err != nil {
			return Page{}, err
		}
		if before != "" || len(p.Items) == 0 || p.Items[0].ID == p.Newest {
			break
		}
	}
	p.More = len(p.Items) > limit
	p.Items = p.Items[:min(len(p.Items), limit)]
	return p, nil
}

// State returns the state of a reader's bell.
func (s *Service) State(ctx context.Context, r Reader) (State, error) { return s.Store.State(ctx, r) }

// MarkRead marks one notice as read, see Store.
func (s *Service) MarkRead(ctx context.Context, r Reader, id string) error {
	if err := s.Store.MarkRead(ctx, r, id, s.Now()); err != nil {
		return err
	}
	s.Changed(r.ID)
	return nil
}

// MarkAllRead marks the notices up to an id, see Store.
func (s *Service) MarkAllRead(ctx context.Context, r Reader, upTo string) error {
	if err := s.Store.MarkAllRead(ctx, r, upTo, s.Now()); err != nil {
		return err
	}
	s.Changed(r.ID)
	return nil
}

// Choices returns the choice of a reader for each kind that it may see.
func (s *Service) Choices(ctx context.Context, r Reader) ([]Choice, error) {
	made, err := s.Store.Choices(ctx, r.ID)
	all := make([]Choice, len(r.Kinds))
	for i, k := range r.Kinds {
		all[i] = DefaultChoice(k)
		if at := slices.IndexFunc(made, func(c Choice) bool { return c.Kind == k }); at >= 0 {
			all[i] = made[at]
		}
	}
	return all, err
}

// Choose changes the choices of some kinds and returns all.
func (s *Service) Choose(ctx context.Context, r Reader, some []Choice) ([]Choice, error) {
	for i, c := range some {
		twice := slices.ContainsFunc(some[:i], func(o Choice) bool { return o.Kind == c.Kind })
		if twice || !slices.Contains(r.Kinds, c.Kind) || c.Push && slices.Contains(StaffKinds(), c.Kind) {
			return nil, ErrChoice
		}
	}
	if err := s.Store.SetChoices(ctx, r.ID, some, s.Now()); err != nil {
		return nil, err
	}
	s.Changed(r.ID)
	return s.Choices(ctx, r)
}

// Follow returns a channel that receives a value after changes of what a reader sees, and a function that ends it.
func (s *Service) Follow(r Reader) (changed chan struct{}, leave func()) {
	changed, end := s.changes.Subscribe(r.ID)
	ends := []func(){end}
	for _, a := range r.Audiences {
		ends = append(ends, s.changes.Join(string(a), changed))
	}
	return changed, func() {
		for _, end := range ends {
			end()
		}
	}
}

// Changed notifies the bells of readers or audiences, here and in other processes.
func (s *Service) Changed(readers ...string) {
	s.changes.Notify(readers...)
	if s.OnChange != nil {
		s.OnChange(readers...)
	}
}

// Received notifies the bells of this process of a change by another one.
func (s *Service) Received(readers ...string) { s.changes.Notify(readers...) }

// ReceivedAny notifies all bells of this process, because notifications may have been missed.
func (s *Service) ReceivedAny() { s.changes.Notify(s.changes.Keys()...) }
