package catalog

import (
	"context"
	"sync"
	"time"

	"comanda/internal/fault"
)

// Source is where branches and menus are read from, normally catalogsql. An unknown branch is ErrBranch, a branch
// without a published version ErrMenu, an unknown version ErrVersion.
type Source interface {
	Branch(ctx context.Context, id int64) (Branch, error)
	Content(ctx context.Context, branch int64) (Content, error)
	Edition(ctx context.Context, version int64) (*Edition, error)
}

// Copies shares loaded menus among processes, normally catalogredis. It only saves work: whatever is wrong with it,
// Through loads, and Drop that is lost does no harm, because a copy counts only with the wanted revision.
type Copies interface {
	// Through gives a copy of at least the wanted revision, or what load gives.
	Through(ctx context.Context, branch, revision int64, load func(context.Context) (Content, error)) (Content, error)
	// Drop forgets the copy of a branch.
	Drop(ctx context.Context, branch int64)
}

// Alone is Copies for a process that shares with nobody.
type Alone struct{}

// Through loads.
func (Alone) Through(
	ctx context.Context, _, _ int64, load func(context.Context) (Content, error),
) (Content, error) {
	return load(ctx)
}

// Drop has nothing to forget.
func (Alone) Drop(context.Context, int64) {}

// maxEditions bounds the closed versions that are remembered; a busy day needs a handful.
const maxEditions = 64

// menuAges: a change is seen within a second, three at worst; without SQL the last known state does for five minutes.
var menuAges = ages{fresh: time.Second, linger: 3 * time.Second, stale: 5 * time.Minute}

// Menus gives branches and menus from memory. A published change is seen within a second, at once in the process that
// made it. While SQL is out of reach the last known state is given for up to five minutes. It is safe for concurrent
// use.
type Menus struct {
	source   Source
	copies   Copies
	branches *kept[Branch]
	menus    *kept[*Snapshot]

	// Told hears which branch this process has changed, so that others may hear it too; it must not block. It is set
	// before the first change; nil for nobody.
	Told func(branch int64)

	mu       sync.Mutex
	editions map[int64]*Edition // immutable, so never too old
}

// NewMenus makes an empty memory over a source.
func NewMenus(source Source, copies Copies, now func() time.Time) *Menus {
	m := &Menus{source: source, copies: copies, editions: map[int64]*Edition{}}
	m.branches = newKept(menuAges, now, func(ctx context.Context, id int64, _ *Branch) (Branch, error) {
		return source.Branch(ctx, id)
	})
	m.menus = newKept(menuAges, now, m.load)
	return m
}

// Branch gives a branch, or ErrBranch.
func (m *Menus) Branch(ctx context.Context, id int64) (Branch, error) { return m.branches.get(ctx, id) }

// Active gives the menu that a branch has published. The same pointer means that nothing has changed.
func (m *Menus) Active(ctx context.Context, branch int64) (*Snapshot, error) {
	return m.menus.get(ctx, branch)
}

// load asks SQL for the branch alone and for the menu only when its revision has moved.
func (m *Menus) load(ctx context.Context, branch int64, old **Snapshot) (*Snapshot, error) {
	b, err := m.source.Branch(ctx, branch)
	if err != nil {
		return nil, err
	}
	if old != nil && (*old).Branch.Revision == b.Revision {
		return *old, nil
	}
	c, err := m.copies.Through(ctx, branch, b.Revision, func(ctx context.Context) (Content, error) {
		return m.source.Content(ctx, branch)
	})
	if err != nil {
		return nil, err
	}
	m.remember(c.Edition)
	return &Snapshot{Branch: b, Edition: c.Edition, Quotas: c.Quotas, Off: c.Off}, nil
}

// Version gives a version that a branch has or had in force, with the branch's present quotas.
func (m *Menus) Version(ctx context.Context, branch, version int64) (*Snapshot, error) {
	active, err := m.Active(ctx, branch)
	if err != nil {
		return nil, err
	}
	if active.VersionID == version {
		return active, nil
	}
	e, err := m.edition(ctx, version)
	if err != nil {
		return nil, err
	}
	if e.BranchID != branch {
		return nil, ErrVersion
	}
	return &Snapshot{Branch: active.Branch, Edition: e, Quotas: active.Quotas, Off: active.Off}, nil
}

func (m *Menus) edition(ctx context.Context, version int64) (*Edition, error) {
	m.mu.Lock()
	e := m.editions[version]
	m.mu.Unlock()
	if e != nil {
		return e, nil
	}
	e, err := m.source.Edition(ctx, version)
	if err != nil {
		return nil, fault.Wrap("load menu version", err)
	}
	m.remember(e)
	return e, nil
}

func (m *Menus) remember(e *Edition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.editions) >= maxEditions {
		clear(m.editions)
	}
	m.editions[e.VersionID] = e
}

// Invalidate forgets what is known of a branch, here and in the shared copies, after a change was committed.
func (m *Menus) Invalidate(ctx context.Context, branch int64) {
	m.copies.Drop(ctx, branch)
	m.Forget(branch)
	if m.Told != nil {
		m.Told(branch)
	}
}

// Forget has the next who asks for a branch wait for what SQL says: somebody else has changed it.
func (m *Menus) Forget(branch int64) {
	m.branches.invalidate(branch)
	m.menus.invalidate(branch)
}
