package document

import (
	"context"
	"errors"
	"sync"
	"time"

	"comanda/internal/fault"
)

// GenerationState is the state of the documents in Redis as recorded in SQL.
type GenerationState struct {
	Epoch          string // epoch that every marker in Redis must have; empty: Redis is not used
	Server         string // servers on which the epoch was built
	Building       string // the epoch of a rebuild, empty when none is under way
	BuildingServer string
	Entity         *Entity // position of the rebuild
	After          string
	ClaimedUntil   time.Time // end of the rebuild's claim
}

// GenerationStore stores the state; documentsql.Store implements it. Changes are conditional on the state that the
// caller has read: ok is false if it has changed.
type GenerationStore interface {
	Generation(ctx context.Context) (GenerationState, error)
	Invalidate(ctx context.Context, epoch string) error
	ClaimBuild(ctx context.Context, seen, next GenerationState, now time.Time) (ok bool, err error)
	SaveProgress(ctx context.Context, p GenerationState) (ok bool, err error)
	FinishBuild(ctx context.Context, building string) (ok bool, err error)
	AbandonBuild(ctx context.Context, building string) error
}

// Marker is the content of one marker in Redis.
type Marker struct{ Epoch, Building string }

// Markers are keys spread over the servers of Redis; documentredis.Store implements it. They are lost together with
// documents.
type Markers interface {
	Up() bool
	// Server returns the identity of the servers that answer now.
	Server(ctx context.Context) (string, error)
	Markers(ctx context.Context) ([]Marker, error)
	// MarkBuilding records a rebuild in every marker and keeps their epochs.
	MarkBuilding(ctx context.Context, building string) error
	// MarkBuilt makes a rebuild the epoch; ok is false if a marker was lost during the rebuild.
	MarkBuilt(ctx context.Context, building string) (ok bool, err error)
}

// Generation decides whether the documents in Redis are complete, and rebuilds them if not. It is safe for concurrent
// use; readers ask it before each use of Redis, so its answers come from memory.
type Generation struct {
	Store   GenerationStore
	Markers Markers
	Build   func(ctx context.Context) error // rebuilds, or returns ErrRebuildRunning

	mu       sync.Mutex
	epoch    string
	revision uint64 // counts calls of Invalidate: results of checks that began before one are dropped
	damage   error  // losses that the sampler has found; nil for none
}

// errCold is the state before a rebuild has completed since Redis was restarted or emptied.
var errCold = fault.New(fault.Unavailable, "documents_cold",
	"The documents in Redis are being rebuilt. They are read from SQL meanwhile.")

// Epoch returns the epoch that markers must have; empty while Redis must not be used.
func (g *Generation) Epoch() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.epoch
}

// Damaged reports whether Redis is known to have lost keys of documents. Sets may then lack members, or be missing,
// although the markers are complete: they must not be read. Single documents are checked by their reader and may.
func (g *Generation) Damaged() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.damage != nil
}

// setDamage records losses; nil when everything is restored.
func (g *Generation) setDamage(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.damage = why
}

// Check returns the reason why documents are not read from Redis, for operators; nil while they are read from Redis.
// It also returns nil while Redis does not answer, because another check reports that.
func (g *Generation) Check(context.Context) error {
	if !g.Markers.Up() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.epoch == "" {
		return errCold
	}
	return g.damage
}

// Invalidate stops reading from Redis until the next check: the servers may have changed.
func (g *Generation) Invalidate() { g.setEpoch("", g.currentRevision()+1) }

// currentRevision returns the revision at the start of a check. setEpoch drops the check's result if the revision
// changed.
func (g *Generation) currentRevision() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.revision
}

// setEpoch stores the result of a check, unless Invalidate was called since it began.
func (g *Generation) setEpoch(epoch string, revision uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if revision < g.revision {
		return
	}
	g.epoch, g.revision = epoch, revision
}

// Reconcile checks the markers, every second or on an event, and rebuilds the documents if they are not complete.
func (g *Generation) Reconcile(ctx context.Context) error {
	if !g.Markers.Up() {
		g.Invalidate()
		return nil
	}
	whole, err := g.verify(ctx)
	if err != nil || whole {
		return err
	}
	if err := g.Build(ctx); err != nil && !errors.Is(err, ErrRebuildRunning) {
		return err
	}
	// The rebuild has ended, here or in another process. This check lets readers use Redis now and not a second later.
	_, err = g.verify(ctx)
	return err
}

// verify compares the markers with the state in SQL.
func (g *Generation) verify(ctx context.Context) (whole bool, err error) {
	revision := g.currentRevision()
	epoch := ""
	// Every early return clears the epoch, because documents that could not be verified must not be read.
	defer func() { g.setEpoch(epoch, revision) }()
	state, err := g.Store.Generation(ctx)
	if err != nil || state.Epoch == "" {
		return false, err
	}
	server, err := g.Markers.Server(ctx)
	if err != nil {
		return false, err
	}
	if server != state.Server { // a restarted server may have loaded old data, whatever its markers say
		return false, g.Store.Invalidate(ctx, state.Epoch)
	}
	markers, err := g.Markers.Markers(ctx)
	if err != nil {
		return false, err
	}
	for _, m := range markers {
		if m.Epoch != state.Epoch {
			return false, nil
		}
	}
	epoch = state.Epoch
	return true, nil
}
