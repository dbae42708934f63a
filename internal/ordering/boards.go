package ordering

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/identity"
)

// CheckAges returns an error unless 1 s <= warn < late <= 24 h. Both are ages of tickets.
func CheckAges(warn, late time.Duration) error {
	if warn < time.Second || late <= warn || late > 24*time.Hour {
		return fault.New(fault.Invalid, "invalid",
			"A ticket is old after at least a second, and too old later than that and within a day.")
	}
	return nil
}

// BoardReader reads the rows of a board. All rows are of one moment, except the lines of orders.
type BoardReader interface {
	Board(ctx context.Context, q BoardQuery) (BoardRows, error)
}

// BranchWatcher signals changes of a branch.
type BranchWatcher interface {
	WatchBranch(branch int64) (wake <-chan struct{}, end func())
}

const (
	// boardPause is the minimum time between two reads of a branch's board: a burst of changes costs one read.
	boardPause = 50 * time.Millisecond
	// boardEvery is the default interval of reads without a notification, since notifications may be lost.
	boardEvery = 750 * time.Millisecond
	// boardStale is the age of the last successful read from which the streams of a branch end after a failed read,
	// so that their screens reconnect and show the error.
	boardStale = 10 * time.Second
	// lookWithin is the time limit of one read.
	lookWithin = 3 * time.Second
)

// Boards serves the boards of kitchens. All screens of a branch in one process share one reading goroutine. It is
// safe for concurrent use.
type Boards struct {
	Reader  BoardReader
	Catalog Catalog
	Watches BranchWatcher
	Warn    time.Duration // age from which screens show a ticket as old
	Late    time.Duration // age from which they show it as too old
	Every   time.Duration // between reads without a notification; 0: boardEvery
	Log     *slog.Logger
	Now     func() time.Time

	mu    sync.Mutex
	walls map[int64]*wall
}

// Get reads the board of a branch that the actor may see. For other branches it returns catalog.ErrBranch.
func (b *Boards) Get(ctx context.Context, by identity.Actor, branch int64) (*Board, error) {
	if !by.Sees(branch) {
		return nil, catalog.ErrBranch
	}
	return b.look(ctx, branch)
}

func (b *Boards) look(ctx context.Context, branch int64) (*Board, error) {
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

// wall is the shared board of all screens of a branch. Boards.mu is locked before wall.mu where both are needed.
type wall struct {
	stop context.CancelFunc

	mu      sync.Mutex
	board   *Board
	screens map[*Screen]struct{}
}

// Screen receives the boards of one branch.
type Screen struct {
	wall *wall
	wake chan struct{}
}

// Wake returns a channel that receives a value when the board has changed. It is closed when reading the branch has
// failed for too long.
func (s *Screen) Wake() <-chan struct{} { return s.wake }

// Over reports whether the screen receives no more boards.
func (s *Screen) Over() bool {
	s.wall.mu.Lock()
	defer s.wall.mu.Unlock()
	_, on := s.wall.screens[s]
	return !on
}

// Board returns the newest board.
func (s *Screen) Board() *Board {
	s.wall.mu.Lock()
	defer s.wall.mu.Unlock()
	return s.wall.board
}

// Follow returns a screen with the current board of a branch that the actor may see, and a function that ends it. The
// first screen of a branch starts the reading goroutine; the others share it. For other branches it returns
// catalog.ErrBranch.
func (b *Boards) Follow(ctx context.Context, by identity.Actor, branch int64) (*Screen, func(), error) {
	if !by.Sees(branch) {
		return nil, nil, catalog.ErrBranch
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.walls[branch]
	if w == nil {
		// The read runs without the lock, so that a slow branch does not block the others.
		b.mu.Unlock()
		first, cancel := context.WithTimeout(ctx, lookWithin) // the context of a stream has no deadline
		board, err := b.look(first, branch)
		cancel()
		b.mu.Lock()
		if err != nil {
			return nil, nil, err
		}
		if w = b.walls[branch]; w == nil { // another screen may have been first
			w = b.raise(ctx, branch, board)
		}
	}
	s := &Screen{w, make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.screens[s] = struct{}{}
	return s, func() { b.leave(branch, s) }, nil
}

// raise starts the reading goroutine of a branch for its first screen. The last screen to leave stops it. It needs
// b.mu.
func (b *Boards) raise(ctx context.Context, branch int64, board *Board) *wall {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	w := &wall{stop: stop, board: board, screens: map[*Screen]struct{}{}}
	if b.walls == nil {
		b.walls = map[int64]*wall{}
	}
	b.walls[branch] = w
	wake, end := b.Watches.WatchBranch(branch)
	go func() {
		defer b.drop(branch, w)
		defer end()
		defer b.guard(ctx)
		b.watch(ctx, branch, w, wake)
	}()
	return w
}

// leave removes a screen, and stops reading the branch if it was the last one. It may be called twice.
func (b *Boards) leave(branch int64, s *Screen) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := s.wall
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.screens, s)
	if len(w.screens) == 0 && b.walls[branch] == w {
		w.stop()
		delete(b.walls, branch)
	}
}

// drop closes the streams of the remaining screens. They reconnect and receive the error.
func (b *Boards) drop(branch int64, w *wall) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.walls[branch] == w {
		delete(b.walls, branch)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
	for s := range w.screens {
		close(s.wake)
	}
	clear(w.screens)
}

// guard logs a panic while reading a board, so that it ends the streams of one branch and not the process.
func (b *Boards) guard(ctx context.Context) {
	if p := recover(); p != nil {
		b.Log.ErrorContext(ctx, "looking at a board panicked", "panic", p, "stack", string(debug.Stack()))
	}
}

// watch reads the board until ctx ends or reading has failed for too long.
func (b *Boards) watch(ctx context.Context, branch int64, w *wall, wake <-chan struct{}) {
	every := b.Every
	if every == 0 {
		every = boardEvery
	}
	pause, timer := time.NewTimer(boardPause), time.NewTimer(0) // covers changes before the subscription
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
		case <-wake:
		case <-timer.C:
		}
		pause.Reset(boardPause)
		timer.Reset(every)
		if !b.again(ctx, branch, w) {
			return
		}
	}
}

// again reads the board once and wakes the screens if it changed. It reports whether to continue: false once the last
// success is boardStale ago.
func (b *Boards) again(ctx context.Context, branch int64, w *wall) bool {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	board, err := b.look(ctx, branch)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		return b.Now().Sub(w.board.At) < boardStale
	}
	if !board.At.Before(w.board.At) {
		if board.ID != w.board.ID {
			defer w.wakeAll()
		}
		w.board = board
	}
	return true
}

// wakeAll signals all screens. It needs w.mu and never blocks.
func (w *wall) wakeAll() {
	for s := range w.screens {
		select {
		case s.wake <- struct{}{}:
		default: // a signal is pending already
		}
	}
}
