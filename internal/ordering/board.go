package ordering

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
)

// MaxTickets is the maximum length of each list of a board. Open tickets are the oldest ones, served tickets the
// newest: a kitchen with more open tickets sees the rest after it has served some.
const MaxTickets = 300

// carriedOver is how long after the start of a business date a board also shows the previous date's orders, and how
// recently those must have been paid. Otherwise a kitchen that works past the end of its day would lose its open
// tickets.
const carriedOver = 4 * time.Hour

// Board is the state that the screens of a branch's kitchen show. It is immutable and may be shared.
type Board struct {
	ID       string // hash of the content
	Branch   int64
	Date     string    // business date
	At       time.Time // when it was read; not part of ID
	Tickets  []Ticket  // open, by time of payment
	Served   []Ticket  // served lately, newest first
	Awaiting []Ticket  // to be paid at the counter, oldest first
	Stations []Station
	More     bool             // a list was cut at MaxTickets
	Locales  []catalog.Locale // the branch's; the kitchen uses the first

	stations map[int64]int64 // category by dish
}

// Ticket is an order on a kitchen's board.
type Ticket struct {
	Order
	Table Table // zero unless DINE_IN
}

// Station is the part of a kitchen that cooks the dishes of one category.
type Station struct {
	Category int64
	Names    catalog.Texts
}

// BoardRows are the rows that a BoardReader reads for a board, unsorted.
type BoardRows struct {
	Tickets, Served, Awaiting []Ticket
	Stations                  []Station
	Categories                map[int64]int64 // by dish
}

// BoardQuery selects the rows of a board.
type BoardQuery struct {
	Branch      int64
	Date        string
	DateBefore  string    // previous business date; empty once carriedOver has passed
	PaidSince   time.Time // applies to DateBefore's orders
	ServedSince time.Time
	Limit       int // maximum length of each list
}

// boardQuery returns the query for a branch's board at now.
func boardQuery(b catalog.Branch, now time.Time) BoardQuery {
	today := b.Calendar().At(now)
	q := BoardQuery{
		Branch: b.ID, Date: today.Date, PaidSince: now.Add(-carriedOver), ServedSince: now.Add(-shownServed),
		// One more than the maximum, to detect that a list was cut.
		Limit: MaxTickets + 1,
	}
	if now.Sub(today.Start) <= carriedOver {
		q.DateBefore = b.Calendar().BizDate(today.Start.Add(-time.Nanosecond))
	}
	return q
}

// newBoard sorts rows, cuts each list at MaxTickets and returns the board. It sorts the slices of r in place. More is
// set if a list was cut, so that screens can say so.
func newBoard(of catalog.Branch, q BoardQuery, now time.Time, r BoardRows) *Board {
	b := &Board{
		Branch: q.Branch, Date: q.Date, At: now, Tickets: r.Tickets, Served: r.Served, Awaiting: r.Awaiting,
		Stations: r.Stations, Locales: of.Locales, stations: r.Categories,
	}
	// Ties are broken by id: the same rows must have the same ID.
	slices.SortFunc(b.Tickets, func(s, t Ticket) int { return cmp.Or(s.PaidAt.Compare(t.PaidAt), cmp.Compare(s.ID, t.ID)) })
	slices.SortFunc(b.Served, func(s, t Ticket) int {
		return cmp.Or(t.SteppedAt.Compare(s.SteppedAt), cmp.Compare(t.ID, s.ID))
	})
	slices.SortFunc(b.Awaiting, func(s, t Ticket) int {
		return cmp.Or(s.CreatedAt.Compare(t.CreatedAt), cmp.Compare(s.ID, t.ID))
	})
	for _, list := range []*[]Ticket{&b.Tickets, &b.Served, &b.Awaiting} {
		if len(*list) > MaxTickets {
			*list, b.More = (*list)[:MaxTickets], true
		}
	}
	b.ID = b.sum()
	return b
}

// sum returns a hash of the content. A ticket's version covers its order; its table and the label change independently
// of the version, so the hash includes them. 12 bytes are enough: it is compared with the id that one client has seen.
func (b *Board) sum() string {
	h := sha256.New()
	fmt.Fprint(h, b.Branch, b.Date, b.More, b.Locales)
	for _, list := range [][]Ticket{b.Tickets, b.Served, b.Awaiting} {
		fmt.Fprint(h, "|", len(list))
		for i := range list {
			t := &list[i]
			fmt.Fprintf(h, " %s %d %d %q", t.ID, t.Version, t.Table.ID, t.Table.Label)
		}
	}
	for _, s := range b.Stations {
		fmt.Fprintf(h, " %d %v", s.Category, s.Names) // fmt prints maps sorted by key
	}
	for _, dish := range slices.Sorted(maps.Keys(b.stations)) {
		fmt.Fprint(h, " ", dish, b.stations[dish])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// CategoryOf returns the category of a dish, which is its station, or 0 if the dish has none on this board.
func (b *Board) CategoryOf(dish int64) int64 { return b.stations[dish] }

// DishCount is the quantity of a dish that is still to be cooked.
type DishCount struct {
	DishID   int64
	Category int64
	Name     string
	Qty      int64
	Size     string        // kitchen name of the size; empty for a dish without sizes
	Options  []OptionCount // other options, in order of their first ticket
}

// OptionCount is the quantity of an option in portions that are still to be cooked.
type OptionCount struct {
	OptionID int64
	Name     string
	Qty      int64
}

// add counts the options of a line.
func (d *DishCount) add(it Item) {
	d.Qty += it.Qty
	for l, qty := range catalog.All(it.OptionLines()) {
		if l.Kind == catalog.SizeGroup {
			continue
		}
		i := slices.IndexFunc(d.Options, func(o OptionCount) bool { return o.OptionID == l.OptionID })
		if i < 0 {
			i = len(d.Options)
			d.Options = append(d.Options, OptionCount{OptionID: l.OptionID, Name: l.KitchenName()})
		}
		d.Options[i].Qty += qty * it.Qty
	}
}

// size returns the id and the kitchen name of the chosen size, or 0.
func (it Item) size() (id int64, name string) {
	for l := range catalog.All(it.OptionLines()) {
		if l.Kind == catalog.SizeGroup {
			return l.OptionID, l.KitchenName()
		}
	}
	return 0, ""
}

// AllDay returns the quantities still to be cooked, by dish and size. It counts lines that are not marked done, of tickets
// that are neither ready nor voided. Dishes are in order of their first ticket. A station other than 0 limits the
// result to that category. Tickets beyond MaxTickets are not counted.
func (b *Board) AllDay(station int64) []DishCount {
	var all []DishCount
	type portion struct{ dish, size int64 }
	place := map[portion]int{}
	for i := range b.Tickets {
		t := &b.Tickets[i]
		if t.Voided() || t.Status == Ready {
			continue
		}
		for _, it := range t.Items {
			category := b.stations[it.DishID]
			if !it.DoneAt.IsZero() || station != 0 && category != station {
				continue
			}
			size, name := it.size()
			n, seen := place[portion{it.DishID, size}]
			if !seen {
				n = len(all)
				place[portion{it.DishID, size}] = n
				all = append(all, DishCount{DishID: it.DishID, Category: category, Name: it.Name, Size: name})
			}
			all[n].add(it)
		}
	}
	return all
}

// CheckAges returns an error unless 1 s <= warn < late <= 24 h. Both are ages of tickets.
func CheckAges(warn, late time.Duration) error {
	if warn < time.Second || late <= warn || late > 24*time.Hour {
		return errors.New("must be longer than the age of slow tickets, and both from 1s to 24h")
	}
	return nil
}

// BoardReader reads the rows of a board. All rows are of one moment, except the lines of orders.
type BoardReader interface {
	Board(ctx context.Context, q BoardQuery) (BoardRows, error)
}

// BranchSubscriber signals changes of a branch. Signals may be lost, so readers also poll. end must be called.
type BranchSubscriber interface {
	SubscribeBranch(branch int64) (changed <-chan struct{}, end func())
}

const (
	// minBoardInterval is the minimum time between two reads of a branch's board: a burst of changes costs one read.
	minBoardInterval = 50 * time.Millisecond
	// maxBoardInterval is the default interval of reads without a notification, while notifications may be lost, and
	// after a failed read.
	maxBoardInterval = 750 * time.Millisecond
	// quietBoardInterval is the interval while all changes are notified. It is half of boardStale, so that a branch that
	// cannot be read is noticed in time.
	quietBoardInterval = boardStale / 2
	// boardStale is the age of the last successful read from which the streams of a branch end after a failed read,
	// so that their screens reconnect and show the error.
	boardStale = 10 * time.Second
	// boardReadTimeout is the time limit of one read.
	boardReadTimeout = 3 * time.Second
)

// BoardHub serves the boards of kitchens. All screens of a branch in one process share one reading goroutine. It is
// safe for concurrent use.
type BoardHub struct {
	Reader  BoardReader
	Catalog Catalog
	Changes BranchSubscriber
	// Ages returns the ages from which screens show a ticket as slow and as late.
	Ages     func() (warn, late time.Duration)
	Interval time.Duration // between reads without a notification; 0: see boardInterval
	// Notified reports whether boards are notified of all changes; nil means no. When it becomes false, all branches must
	// be notified.
	Notified func() bool
	Log      *slog.Logger
	Now      func() time.Time

	mu    sync.Mutex
	feeds map[int64]*boardFeed
}

// Get reads the board of a branch that the actor may see. For other branches it returns catalog.ErrBranch. Each call
// reads; only streams share a board.
func (b *BoardHub) Get(ctx context.Context, by authz.Actor, branch int64) (*Board, error) {
	if !by.Sees(branch) {
		return nil, catalog.ErrBranch
	}
	return b.read(ctx, branch)
}

// read reads a branch's board at the deciding time. It checks no access.
func (b *BoardHub) read(ctx context.Context, branch int64) (*Board, error) {
	of, err := b.Catalog.Branch(ctx, branch)
	if err != nil {
		return nil, err
	}
	now := b.Now()
	q := boardQuery(of, now)
	rows, err := b.Reader.Board(ctx, q)
	if err != nil {
		return nil, err
	}
	return newBoard(of, q, now, rows), nil
}

// boardFeed is the shared board of all screens of a branch. BoardHub.mu is locked before boardFeed.mu where both are
// needed.
type boardFeed struct {
	stop context.CancelFunc

	mu      sync.Mutex
	board   *Board
	readAt  time.Time // of the last successful read, or earlier if the clock was set back
	screens map[*Screen]struct{}
}

// Screen receives the boards of one branch. Its methods are safe for concurrent use.
type Screen struct {
	feed    *boardFeed
	changed chan struct{}
}

// Changed returns a channel that receives a value when the board has changed. It is closed when reading the branch has
// failed for too long.
func (s *Screen) Changed() <-chan struct{} { return s.changed }

// Closed reports whether the screen receives no more boards. It also reports true after the function that Follow
// returned.
func (s *Screen) Closed() bool {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	_, on := s.feed.screens[s]
	return !on
}

// Board returns the newest board.
func (s *Screen) Board() *Board {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	return s.feed.board
}

// Follow returns a screen with the current board of a branch that the actor may see, and a function that ends it. The
// first screen of a branch starts the reading goroutine; the others share it. For other branches it returns
// catalog.ErrBranch.
func (b *BoardHub) Follow(ctx context.Context, by authz.Actor, branch int64) (*Screen, func(), error) {
	if !by.Sees(branch) {
		return nil, nil, catalog.ErrBranch
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.feeds[branch]
	if w == nil {
		// The read runs without the lock, so that a slow branch does not block the others.
		b.mu.Unlock()
		first, cancel := context.WithTimeout(ctx, boardReadTimeout) // the context of a stream has no deadline
		board, err := b.read(first, branch)
		cancel()
		b.mu.Lock()
		if err != nil {
			return nil, nil, err
		}
		if w = b.feeds[branch]; w == nil { // another screen may have started the feed meanwhile
			w = b.startFeed(ctx, branch, board)
		}
	}
	// One value is enough: a screen that is notified reads the newest board, whatever it has missed.
	s := &Screen{w, make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.screens[s] = struct{}{}
	return s, func() { b.unsubscribe(branch, s) }, nil
}

// startFeed starts the reading goroutine of a branch for its first screen. The last screen that ends stops the
// goroutine. The caller holds b.mu.
func (b *BoardHub) startFeed(ctx context.Context, branch int64, board *Board) *boardFeed {
	// The feed outlives the request of its first screen.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	w := &boardFeed{stop: stop, board: board, readAt: board.At, screens: map[*Screen]struct{}{}}
	if b.feeds == nil {
		b.feeds = map[int64]*boardFeed{}
	}
	b.feeds[branch] = w
	changed, end := b.Changes.SubscribeBranch(branch)
	go func() {
		// The deferred call runs last, even after a panic, so that no screen waits for a goroutine that has ended.
		defer b.closeFeed(branch, w)
		defer end()
		defer b.logPanic(ctx)
		b.poll(ctx, branch, w, changed)
	}()
	return w
}

// unsubscribe removes a screen, and stops reading the branch if it was the last one. It may be called twice. The map
// may contain a newer feed of the branch by then, which must not be stopped.
func (b *BoardHub) unsubscribe(branch int64, s *Screen) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := s.feed
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.screens, s)
	if len(w.screens) == 0 && b.feeds[branch] == w {
		w.stop()
		delete(b.feeds, branch)
	}
}

// closeFeed closes the streams of the remaining screens. They reconnect and receive the error. The next Follow starts a
// new feed.
func (b *BoardHub) closeFeed(branch int64, w *boardFeed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.feeds[branch] == w {
		delete(b.feeds, branch)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
	for s := range w.screens {
		close(s.changed)
	}
	clear(w.screens)
}

// logPanic logs a panic while reading a board, so that it ends the streams of one branch and not the process.
func (b *BoardHub) logPanic(ctx context.Context) {
	if p := recover(); p != nil {
		b.Log.ErrorContext(ctx, "reading a board panicked", "panic", p, "stack", string(debug.Stack()))
	}
}

// boardInterval returns the interval of reads without a notification.
func (b *BoardHub) boardInterval(failed bool) time.Duration {
	if !failed && b.Notified != nil && b.Notified() {
		return cmp.Or(b.Interval, quietBoardInterval)
	}
	return cmp.Or(b.Interval, maxBoardInterval)
}

// poll reads the board until ctx ends or reading has failed for too long. It reads once at the start, then at
// notifications and at intervals, but never twice within minBoardInterval.
func (b *BoardHub) poll(ctx context.Context, branch int64, w *boardFeed, changed <-chan struct{}) {
	pause, timer := time.NewTimer(minBoardInterval), time.NewTimer(0) // covers changes before the subscription
	defer pause.Stop()
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C: // the minimum time between reads
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-timer.C:
		}
		pause.Reset(minBoardInterval)
		failed, end := b.refresh(ctx, branch, w)
		if end {
			return
		}
		timer.Reset(b.boardInterval(failed))
	}
}

// refresh reads the board once and notifies the screens if it changed. It reports whether the read has failed, and
// whether to end: true once the last success is boardStale ago. The time of a board may be before that of the last one,
// because the clock may be set back.
func (b *BoardHub) refresh(ctx context.Context, branch int64, w *boardFeed) (failed, end bool) {
	ctx, cancel := context.WithTimeout(ctx, boardReadTimeout)
	defer cancel()
	board, err := b.read(ctx, branch)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		// One failed read changes nothing on the screens: the board stays until it is too old.
		now := b.Now()
		if now.Before(w.readAt) {
			w.readAt = now
		}
		return true, now.Sub(w.readAt) >= boardStale
	}
	if board.ID != w.board.ID {
		defer w.notify()
	}
	w.board, w.readAt = board, board.At
	return false, false
}

// notify signals all screens. The caller holds f.mu. It never blocks.
func (f *boardFeed) notify() {
	for s := range f.screens {
		select {
		case s.changed <- struct{}{}:
		default: // a signal is pending already
		}
	}
}
