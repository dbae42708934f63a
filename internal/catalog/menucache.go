package catalog

import (
	"context"
	"time"

	"comanda/internal/cache"
	"comanda/internal/fault"
)

// Source reads branches and menus; catalogsql implements it. It returns ErrBranch for an unknown branch, ErrMenu for a
// branch without a published version and ErrVersion for an unknown version.
type Source interface {
	Branch(ctx context.Context, id int64) (Branch, error)
	Content(ctx context.Context, branch int64) (Content, error)
	// Edition returns a version, or a combination of versions that AddCombination has stored.
	Edition(ctx context.Context, version int64) (*Edition, error)
	// AddCombination stores the parts of a combination, if its id is new.
	AddCombination(ctx context.Context, branch int64, parts []MenuPart, now time.Time) error
}

// SharedCache shares loaded menus between processes; catalogredis implements it. It only saves work: GetOrLoad calls
// load on any failure, and a lost Delete is harmless, because a copy is used only if its revision is recent enough.
type SharedCache interface {
	// GetOrLoad returns a copy of at least the given revision, or the result of load.
	GetOrLoad(ctx context.Context, branch, revision int64, load func(context.Context) (Content, error)) (Content, error)
	// Delete removes the copy of a branch.
	Delete(ctx context.Context, branch int64)
}

// NoSharedCache is a SharedCache that stores nothing.
type NoSharedCache struct{}

// GetOrLoad calls load.
func (NoSharedCache) GetOrLoad(
	ctx context.Context, _, _ int64, load func(context.Context) (Content, error),
) (Content, error) {
	return load(ctx)
}

// Delete does nothing.
func (NoSharedCache) Delete(context.Context, int64) {}

// maxEditions limits how many closed versions are cached; a busy day needs a handful.
const maxEditions = 64

// menuAges makes a change visible within one second, three at worst. While SQL is unreachable, menus are served for up
// to five minutes.
var menuAges = cacheAges{fresh: time.Second, linger: 3 * time.Second, stale: 5 * time.Minute}

// MenuCache serves branches and menus from memory. A published change is visible within a second, and at once in the
// process that made it. While SQL is unreachable the last known state is served for up to five minutes. It is safe for
// concurrent use.
type MenuCache struct {
	source   Source
	shared   SharedCache
	now      func() time.Time
	branches *readThrough[Branch]
	menus    *readThrough[*Snapshot]

	// OnChange, if not nil, is called with the branch that this process has changed, so that other processes can be
	// notified. It must not block, and must be set before the first change.
	OnChange func(branch int64)

	editions cache.Cache[int64, *Edition] // by version id; immutable, so they never expire
}

// NewMenuCache returns an empty cache over a source.
func NewMenuCache(source Source, shared SharedCache, now func() time.Time) *MenuCache {
	m := &MenuCache{source: source, shared: shared, now: now}
	// Version ids come from requests, so without a limit a client could fill the memory with old versions.
	m.editions.Max = maxEditions
	m.branches = newReadThrough(menuAges, now, func(ctx context.Context, id int64, _ *Branch) (Branch, error) {
		return source.Branch(ctx, id)
	})
	m.menus = newReadThrough(menuAges, now, m.load)
	return m
}

// Branch returns a branch, or ErrBranch.
func (m *MenuCache) Branch(ctx context.Context, id int64) (Branch, error) {
	return m.branches.get(ctx, id)
}

// Active returns the menu of a branch that is in force. An unchanged menu is the same pointer.
func (m *MenuCache) Active(ctx context.Context, branch int64) (*Snapshot, error) {
	return m.menus.get(ctx, branch)
}

// load reads the branch from SQL, and the menus only if the branch's revision has changed.
func (m *MenuCache) load(ctx context.Context, branch int64, old **Snapshot) (*Snapshot, error) {
	b, err := m.source.Branch(ctx, branch)
	if err != nil {
		return nil, err
	}
	now := m.now()
	var next *Snapshot
	switch {
	case old == nil || (*old).Branch.Revision != b.Revision:
		c, err := m.shared.GetOrLoad(ctx, branch, b.Revision, func(ctx context.Context) (Content, error) {
			return m.source.Content(ctx, branch)
		})
		if err != nil {
			return nil, err
		}
		if next, err = newSnapshot(b, c, now); err != nil {
			return nil, err
		}
	case (*old).ended(now):
		next = (*old).at(now)
	default:
		return *old, nil // the same pointer shows readers that nothing changed, see LiveMenu.equal
	}
	if IsCombination(next.VersionID) && (old == nil || (*old).VersionID != next.VersionID) {
		parts, _ := next.menus.at(now)
		// Guests read the menu whether or not this succeeds. Without the row, an order that comes after the next change is
		// refused with menu_version_closed, and its phone reads the menu again.
		_ = m.source.AddCombination(ctx, branch, parts, now)
	}
	// Orders still ask for this version after the next one is published.
	m.editions.Put(next.VersionID, next.Edition)
	return next, nil
}

// Version returns a version that the branch has or had published, with the branch's current quotas.
func (m *MenuCache) Version(ctx context.Context, branch, version int64) (*Snapshot, error) {
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
	// Without this check a guest could read the prices of another branch by guessing ids.
	if e.BranchID != branch {
		return nil, ErrVersion
	}
	other := *active
	other.Edition = e
	return &other, nil
}

// edition returns a closed version from the cache or SQL. Its items and prices never change, so no invalidation
// applies.
func (m *MenuCache) edition(ctx context.Context, version int64) (*Edition, error) {
	if e, ok := m.editions.Get(version, time.Time{}); ok {
		return e, nil
	}
	e, err := m.source.Edition(ctx, version)
	if err != nil {
		return nil, fault.Wrap("load menu version", err)
	}
	m.editions.Put(version, e)
	return e, nil
}

// Invalidate removes a branch from this cache and the shared one. It is called after a change is committed.
func (m *MenuCache) Invalidate(ctx context.Context, branch int64) {
	// The shared copy is deleted first, so that the next reader does not read a copy only to refuse its revision.
	m.shared.Delete(ctx, branch)
	m.InvalidateLocal(branch)
	if m.OnChange != nil {
		m.OnChange(branch)
	}
}

// changed invalidates the branches of a committed change. A failed change invalidates none.
func (m *MenuCache) changed(ctx context.Context, err error, branches ...int64) {
	if err != nil {
		return
	}
	for _, b := range branches {
		m.Invalidate(ctx, b)
	}
}

// InvalidateLocal drops a branch from this cache only, so that the next reader waits for SQL. It is called for changes
// that another process has made.
func (m *MenuCache) InvalidateLocal(branch int64) {
	m.branches.invalidate(branch)
	m.menus.invalidate(branch)
}
