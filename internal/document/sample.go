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
	sampleDocs  = 200         // documents of each entity that a pass compares
	sampleBoost = 20          // times as many where the list of all is too short
	sampleSizes = 5000        // sets of each index whose members a pass counts
	sampleShort = 20          // sets of each index that are looked into where too few members were counted
	sampleRest  = 20          // a pass is followed by so many times its duration without one: a twentieth of the time
	sampleMost  = time.Minute // but no longer than this
	buildRest   = 10          // the same for rebuilds
	buildMost   = 10 * time.Minute
	mostWaiting = 2000                   // transactions before the projector; with more of them nothing counts as lost
	clockSlack  = 250 * time.Millisecond // by which the clocks of processes that write may differ
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
	Source    Source
	Counts    Counts
	Mirror    Mirror
	Projector *Projector
	Plane     *Plane
	Evictions func(ctx context.Context) (int64, error) // keys that the servers have evicted since they were started
	Now       func() time.Time
	Rest      int                                 // a pass is followed by so many times its duration without one
	BuildRest int                                 // the same for rebuilds
	Observe   func(ctx context.Context, s Sample) // may be nil

	gauges  []*gauge
	cursors map[*Entity]string
	evicted int64 // at the last pass
	begun   bool  // there was one

	rest  time.Time // no pass before
	owed  string    // the epoch in which something was lost and since which nobody has rebuilt; "": nothing
	spare time.Time // no rebuild before
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
	begun, epoch := s.Now(), s.Plane.Epoch()
	if epoch == "" || rests(begun, s.rest, sampleMost) {
		return nil
	}
	p := pass{Sampler: s}
	err := p.look(ctx)
	p.Took = s.Now().Sub(begun)
	s.rest = s.Now().Add(min(time.Duration(s.Rest)*max(p.Took, 0), sampleMost))
	if err != nil {
		return err
	}
	err = s.act(ctx, &p.Sample, epoch)
	if s.Observe != nil {
		s.Observe(ctx, p.Sample)
	}
	return err
}

// act has restored what was lost, and ends the damage where nothing is.
func (s *Sampler) act(ctx context.Context, p *Sample, epoch string) error {
	if s.owed != epoch { // somebody has rebuilt
		s.owed = ""
	}
	switch {
	case len(p.Lost) > 0:
		s.owed = epoch
		s.Plane.setDamage(errLost(p.Lost))
		n, err := s.restore(ctx, p.Lost)
		p.Restored = n
		if err != nil {
			return err
		}
	case p.Evicted:
		s.owed = epoch
		s.Plane.setDamage(errEvicted)
	case s.owed == "" && !p.Behind:
		s.Plane.setDamage(nil)
	}
	if s.owed == "" || rests(s.Now(), s.spare, buildMost) {
		return nil
	}
	return s.rebuild(ctx)
}

// rests reports whether an instant is not reached yet. One that is further away than most was set by another clock.
func rests(now, until time.Time, most time.Duration) bool {
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
	err := s.Plane.Build(ctx)
	if errors.Is(err, ErrBuilding) {
		return nil
	}
	s.spare = s.Now().Add(min(time.Duration(s.BuildRest)*max(s.Now().Sub(begun), 0), buildMost))
	if err != nil {
		return err
	}
	s.owed = ""
	_, err = s.Plane.look(ctx)
	return err
}
