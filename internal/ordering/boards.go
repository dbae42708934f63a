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

// CheckAges tells what is wrong with the ages from which tickets are old and too old.
func CheckAges(warn, late time.Duration) error {
	if warn < time.Second || late <= warn || late > 24*time.Hour {
		return fault.New(fault.Invalid, "invalid",
			"A ticket is old after at least a second, and too old later than that and within a day.")
	}
	return nil
}

// BoardReader reads what a board is made of, all of one moment but for the lines.
type BoardReader interface {
	Board(ctx context.Context, q BoardQuery) (BoardRows, error)
}

// BranchWatcher wakes who looks on while something of a branch changes.
type BranchWatcher interface {
	WatchBranch(branch int64) (wake <-chan struct{}, end func())
}

// How often a branch is looked at while screens show it: at once after a change that somebody has told of, but not more
// often than boardPause; and every boardEvery in any case, since nobody may have told. Who could not look for boardStale
// has its screens told, by ending their streams.
const (
	boardPause = 50 * time.Millisecond
	boardEvery = 750 * time.Millisecond
	boardStale = 10 * time.Second
	lookWithin = 3 * time.Second
)

// Boards gives the boards of kitchens. All screens of a branch that one process serves share its looks. It is safe for
// concurrent use.
type Boards struct {
	Reader  BoardReader
	Catalog Catalog
	Watches BranchWatcher
	Warn    time.Duration // the age of a ticket from which screens show it as old
	Late    time.Duration // and as too old
	Every   time.Duration // between looks that nobody has asked for; 0 for the usual
	Log     *slog.Logger
	Now     func() time.Time

	mu    sync.Mutex
	walls map[int64]*wall
}

// Get looks at the board of a branch that the actor sees.
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

// wall is where all screens of a branch look.
type wall struct {
	stop context.CancelFunc

	mu      sync.Mutex
	board   *Board
	screens map[*Screen]struct{}
}

// Screen follows one branch.
type Screen struct {
	wall *wall
	wake chan struct{}
}

// Wake is written to when there is another board, and closed when the branch could not be looked at for too long.
func (s *Screen) Wake() <-chan struct{} { return s.wake }

// Over tells whether the branch is not looked at for the screen any more.
func (s *Screen) Over() bool {
	s.wall.mu.Lock()
	defer s.wall.mu.Unlock()
	_, on := s.wall.screens[s]
	return !on
}

// Board is the newest board.
func (s *Screen) Board() *Board {
	s.wall.mu.Lock()
	defer s.wall.mu.Unlock()
	return s.wall.board
}

// Follow gives a screen with the present board of a branch that the actor sees, and what ends it. However many screens
// come at once, only the first one of a branch has it looked at.
func (b *Boards) Follow(ctx context.Context, by identity.Actor, branch int64) (*Screen, func(), error) {
	if !by.Sees(branch) {
		return nil, nil, catalog.ErrBranch
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.walls[branch]
	if w == nil {
		b.mu.Unlock()
		first, cancel := context.WithTimeout(ctx, lookWithin) // a stream's own context has no end
		board, err := b.look(first, branch)
		cancel()
		b.mu.Lock()
		if err != nil {
			return nil, nil, err
		}
		if w = b.walls[branch]; w == nil { // nobody has come meanwhile
			w = b.raise(ctx, branch, board)
		}
	}
	s := &Screen{w, make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.screens[s] = struct{}{}
	return s, func() { b.leave(branch, s) }, nil
}

// raise begins to look at a branch for its first screen; the last one that leaves ends it.
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

// drop ends the streams of screens that are still there: they come back, and find out.
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

func (b *Boards) guard(ctx context.Context) {
	if p := recover(); p != nil {
		b.Log.ErrorContext(ctx, "looking at a board panicked", "panic", p, "stack", string(debug.Stack()))
	}
}

// watch looks until nobody does any more, or until it could not for too long.
func (b *Boards) watch(ctx context.Context, branch int64, w *wall, wake <-chan struct{}) {
	every := b.Every
	if every == 0 {
		every = boardEvery
	}
	pause, timer := time.NewTimer(boardPause), time.NewTimer(0) // the first look sees what came before the watch began
	defer pause.Stop()
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C: // no two looks are closer together than this
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

// again looks once and shows what is new. It gives up when the last success is too long ago, or the branch is gone.
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

// wakeAll needs the wall's lock.
func (w *wall) wakeAll() {
	for s := range w.screens {
		select {
		case s.wake <- struct{}{}:
		default: // it is awake already
		}
	}
}
