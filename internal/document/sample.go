package document

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"comanda/internal/fault"
)

const (
	sampledDocuments  = 200         // documents of each entity that a pass compares
	shortListBatches  = 20          // times as many where the list of all is too short
	sampledSets       = 5000        // sets of each index whose members a pass counts
	sampledShortSets  = 20          // sets of each index that are looked into where too few members were counted
	defaultSampleIdle = 20          // a pass is followed by so many times its duration without one: a twentieth of the time
	maxSampleIdle     = time.Minute // but no longer than this
	defaultBuildIdle  = 10          // the same for rebuilds
	maxBuildIdle      = 10 * time.Minute
	maxPending        = 2000                   // transactions before the projector; with more of them nothing counts as lost
	clockSlack        = 250 * time.Millisecond // by which the clocks of processes that write may differ
)

// Sampler finds out what Redis has lost, as by eviction or by somebody's UNLINK, and has it restored. A loss of the marks,
// or of a server, is found by Plane.
//
// A pass compares some documents of each entity with all that belongs to them, the next ones in each pass, and counts the
// members of the lists and of some sets. Sizes are only a hint: documents decide. One counts as lost when SQL says of it
// the same before and after a look at what waits for the projector, it does not wait, and Redis lacks it twice. So a
// projector that is behind is never taken for a loss.
//
// What was found is written again at once, and everything else by a rebuild: where some keys have gone, others have, and
// entries that only a lost memo knew can be found in no other way. Until a later pass finds nothing the plane is damaged.
//
// Every process runs a sampler, because each must know for its own readers. It is not safe for concurrent use.
type Sampler struct {
	Source          Source
	Counts          Counts
	Mirror          Mirror
	Projector       *Projector
	Generation      *Generation
	Evictions       func(ctx context.Context) (int64, error) // keys that the servers have evicted since they were started
	Now             func() time.Time
	IdleFactor      int                                 // a pass is followed by so many times its duration without one
	BuildIdleFactor int                                 // the same for rebuilds
	Observe         func(ctx context.Context, s Sample) // may be nil

	baselines []*baseline
	cursors   map[*Entity]string
	evicted   int64 // at the last pass
	started   bool  // there was one

	nextPass    time.Time // no pass before
	rebuildOwed string    // the epoch in which something was lost and since which nobody has rebuilt; "": nothing
	nextBuild   time.Time // no rebuild before
}

// Sample is what a pass has found and done.
type Sample struct {
	Documents int // compared
	Sets      int // counted
	Lost      []Difference
	Restored  int  // documents that were written again, without those of a rebuild
	Evicted   bool // a server has evicted keys since the pass before
	Behind    bool // too much waits for the projector, or for too long: some of it was not looked at
	Took      time.Duration
}

// RunOnce runs a pass if the last one was long enough ago. While the plane is cold it does nothing: readers ask SQL, and a
// rebuild comes.
func (s *Sampler) RunOnce(ctx context.Context) error {
	begun, epoch := s.Now(), s.Generation.Epoch()
	if epoch == "" || inFuture(begun, s.nextPass, maxSampleIdle) {
		return nil
	}
	p := samplePass{Sampler: s}
	err := p.run(ctx)
	p.Took = s.Now().Sub(begun)
	s.nextPass = s.Now().Add(min(time.Duration(s.IdleFactor)*max(p.Took, 0), maxSampleIdle))
	if err != nil {
		return err
	}
	err = s.respond(ctx, &p.Sample, epoch)
	if s.Observe != nil {
		s.Observe(ctx, p.Sample)
	}
	return err
}

// act has restored what was lost, and ends the damage where nothing is.
func (s *Sampler) respond(ctx context.Context, p *Sample, epoch string) error {
	if s.rebuildOwed != epoch { // somebody has rebuilt
		s.rebuildOwed = ""
	}
	switch {
	case len(p.Lost) > 0:
		s.rebuildOwed = epoch
		s.Generation.setDamage(errLost(p.Lost))
		n, err := s.restore(ctx, p.Lost)
		p.Restored = n
		if err != nil {
			return err
		}
	case p.Evicted:
		s.rebuildOwed = epoch
		s.Generation.setDamage(errEvicted)
	case s.rebuildOwed == "" && !p.Behind:
		s.Generation.setDamage(nil)
	}
	if s.rebuildOwed == "" || inFuture(s.Now(), s.nextBuild, maxBuildIdle) {
		return nil
	}
	return s.rebuild(ctx)
}

// rests reports whether an instant is not reached yet. One that is further away than most was set by another clock.
func inFuture(now, until time.Time, most time.Duration) bool {
	wait := until.Sub(now)
	return wait > 0 && wait <= most
}

// errLost says of which entities something was found, for people. Keys hold addresses and are not for everybody.
func errLost(lost []Difference) error {
	var names []string
	for _, d := range lost {
		if !slices.Contains(names, d.Ref.Entity.Name) {
			names = append(names, d.Ref.Entity.Name)
		}
	}
	return fault.Newf(fault.Unavailable, "documents_lost",
		"Redis has lost keys of documents (%s). They are being restored, and lists are read from SQL meanwhile.",
		strings.Join(names, ", "))
}

var errEvicted = fault.New(fault.Unavailable, "documents_evicted",
	"Redis has evicted keys to free memory. Documents are being restored, and lists are read from SQL meanwhile.")

// restore writes documents again of which something was lost.
func (s *Sampler) restore(ctx context.Context, lost []Difference) (int, error) {
	refs := make([]Ref, len(lost))
	for i, d := range lost {
		refs[i] = d.Ref
	}
	refs = unique(refs)
	return len(refs), s.Projector.Project(ctx, refs, nil)
}

// rebuild writes everything anew. While somebody else does, the epoch will tell when it is done.
func (s *Sampler) rebuild(ctx context.Context) error {
	begun := s.Now()
	err := s.Generation.Build(ctx)
	if errors.Is(err, ErrRebuildRunning) {
		return nil
	}
	s.nextBuild = s.Now().Add(min(time.Duration(s.BuildIdleFactor)*max(s.Now().Sub(begun), 0), maxBuildIdle))
	if err != nil {
		return err
	}
	s.rebuildOwed = ""
	_, err = s.Generation.verify(ctx)
	return err
}
