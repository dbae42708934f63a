package document

import (
	"context"
	"errors"
	"sync"
	"time"

	"comanda/internal/fault"
)

// PlaneState is what SQL knows about the documents in Redis.
type GenerationState struct {
	Epoch          string // what every mark in Redis must show; empty: nothing there is to be relied on
	Server         string // the servers it was built on
	Building       string // the epoch of a rebuild, empty when none is under way
	BuildingServer string
	Entity         *Entity // where the rebuild stands
	After          string
	ClaimedUntil   time.Time // until then the rebuild is somebody's
}

// PlaneStore keeps the state, normally documentsql. Who claims or changes tells what he has seen, and comes too late
// when something else is there.
type GenerationStore interface {
	Generation(ctx context.Context) (GenerationState, error)
	Invalidate(ctx context.Context, epoch string) error
	ClaimBuild(ctx context.Context, seen, next GenerationState, now time.Time) (ok bool, err error)
	SaveProgress(ctx context.Context, p GenerationState) (ok bool, err error)
	FinishBuild(ctx context.Context, building string) (ok bool, err error)
	AbandonBuild(ctx context.Context, building string) error
}

// Mark is what one mark in Redis shows.
type Marker struct{ Epoch, Building string }

// Marks are the marks in Redis, normally documentredis. They are lost with the documents.
type Markers interface {
	Up() bool
	// Server names the servers that answer now.
	Server(ctx context.Context) (string, error)
	Markers(ctx context.Context) ([]Marker, error)
	// MarkBuilding notes a rebuild on every mark and keeps their epochs.
	MarkBuilding(ctx context.Context, building string) error
	// MarkBuilt makes a rebuild the epoch; ok is false when one of the marks has not lived through all of it.
	MarkBuilt(ctx context.Context, building string) (ok bool, err error)
}

// Plane tells whether the documents in Redis are whole, and has them rebuilt when they are not.
type Generation struct {
	Store   GenerationStore
	Markers Markers
	Build   func(ctx context.Context) error // starts a rebuild, or finds that somebody else has

	mu       sync.Mutex
	epoch    string
	revision uint64 // counts calls of Suspect: what was looked at before one says nothing
	damage   error  // what the sampler has found to be lost; nil: nothing
}

// errCold is the state of documents that no rebuild has completed since Redis was restarted or emptied.
var errCold = fault.New(fault.Unavailable, "documents_cold",
	"The documents in Redis are being rebuilt. They are read from SQL meanwhile.")

// Epoch is the epoch that marks must show; empty while the documents cannot be relied on.
func (p *Generation) Epoch() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.epoch
}

// Damaged reports whether Redis is known to have lost keys of documents. A set may then lack members, or be gone, although
// the marks are whole: it must not be read. A single document is checked by its reader and may.
func (p *Generation) Damaged() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.damage != nil
}

// setDamage notes what is lost; nil: everything is there again.
func (p *Generation) setDamage(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.damage = why
}

// Check returns why documents are not read from Redis as they should be, for people; nil while they are. It is nil also
// while Redis does not answer, which is told elsewhere.
func (p *Generation) Check(context.Context) error {
	if !p.Markers.Up() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.epoch == "" {
		return errCold
	}
	return p.damage
}

// Suspect makes the plane cold until the next look: the servers may be others than before.
func (p *Generation) Invalidate() { p.setEpoch("", p.currentRevision()+1) }

func (p *Generation) currentRevision() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revision
}

// set notes what a look has found, unless Suspect came in between.
func (p *Generation) setEpoch(epoch string, look uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if look < p.revision {
		return
	}
	p.epoch, p.revision = epoch, look
}

// Watch looks once, to be run every second or when something has happened, and has rebuilt what is not whole.
func (p *Generation) Reconcile(ctx context.Context) error {
	if !p.Markers.Up() {
		p.Invalidate()
		return nil
	}
	whole, err := p.verify(ctx)
	if err != nil || whole {
		return err
	}
	if err := p.Build(ctx); err != nil && !errors.Is(err, ErrRebuildRunning) {
		return err
	}
	_, err = p.verify(ctx)
	return err
}

// look compares the marks with what SQL says.
func (p *Generation) verify(ctx context.Context) (whole bool, err error) {
	look := p.currentRevision()
	epoch := ""
	defer func() { p.setEpoch(epoch, look) }()
	state, err := p.Store.Generation(ctx)
	if err != nil || state.Epoch == "" {
		return false, err
	}
	server, err := p.Markers.Server(ctx)
	if err != nil {
		return false, err
	}
	if server != state.Server { // what a restarted server has loaded may be old, whatever its marks say
		return false, p.Store.Invalidate(ctx, state.Epoch)
	}
	marks, err := p.Markers.Markers(ctx)
	if err != nil {
		return false, err
	}
	for _, m := range marks {
		if m.Epoch != state.Epoch {
			return false, nil
		}
	}
	epoch = state.Epoch
	return true, nil
}
