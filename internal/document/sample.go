package document

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"comanda/internal/fault"
	"comanda/internal/seq"
)

const (
	sampledDocuments = 200         // documents of each entity compared in a pass
	shortListBatches = 20          // multiplies the batches of a pass where the list of all documents is too short
	sampledSets      = 5000        // sets of each index counted in a pass
	sampledShortSets = 20          // sets of each index that are examined after too low a count
	maxSampleIdle    = time.Minute // longest idle time
	maxBuildIdle     = 10 * time.Minute
	maxPending       = 2000                   // pending transactions; with more, nothing counts as lost
	clockSlack       = 250 * time.Millisecond // tolerated difference between the clocks of writing processes
)

// Sampler detects keys that Redis has lost, as by eviction or a manual UNLINK, and restores them. Generation detects
// the loss of markers or of a server.
//
// A pass compares some documents of each entity with all their keys, continuing where the previous pass ended, and
// counts the members of the lists and of some sets. A wrong count is only a hint; documents are compared before a key
// counts as lost. A document counts as lost if SQL returns the same row before and after the pending changes were
// read, the document is not pending, and Redis lacks it twice. So a slow projector is never mistaken for a loss.
//
// Losses are written again at once, and a rebuild then writes all documents: other keys may be lost too, and only a
// rebuild finds entries that were listed in a lost memo alone. The generation counts as damaged until a later pass
// finds no loss.
//
// Every process runs a sampler, because each must protect its own readers. Only its method Report is safe for concurrent
// use.
type Sampler struct {
	Source          Source
	Counts          Counts
	Mirror          Mirror
	Projector       *Projector
	Generation      *Generation
	Evictions       func(ctx context.Context) (int64, error) // number of keys that the servers have evicted since their start
	Now             func() time.Time
	IdleFactor      int                                 // idle time after a pass, in multiples of its duration
	BuildIdleFactor int                                 // likewise for rebuilds
	Observe         func(ctx context.Context, s Sample) // may be nil

	baselines []*baseline
	cursors   map[*Entity]string
	evicted   int64 // evictions at the last pass
	started   bool  // there was a pass

	nextPass    time.Time // earliest next pass
	rebuildOwed string    // epoch with losses that needs a rebuild; "" for none
	nextBuild   time.Time // earliest next rebuild

	mu       sync.Mutex
	reported []Difference // losses that others have found since the last pass
}

// maxReported limits the documents of reported losses, which are kept in memory. A rebuild follows anyway.
const maxReported = 100

// Report records that a projector has overwritten documents whose memos Redis had lost: no pass can find this loss any
// more. It is the value of Projector.Forgotten.
func (s *Sampler) Report(refs []Ref) {
	if s.Generation.Epoch() == "" {
		return // a rebuild follows
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range refs[:min(len(refs), maxReported-len(s.reported))] {
		s.reported = append(s.reported, Difference{Kind: MemoWrong, Ref: r, Key: r.Entity.Keys.Memo(r.ID).String()})
	}
	s.Generation.setDamage(errLost(s.reported))
}

// takeReported removes and returns the reported losses.
func (s *Sampler) takeReported() []Difference {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.reported
	s.reported = nil
	return lost
}

// clearDamage clears the damage, unless a loss was reported during the pass.
func (s *Sampler) clearDamage() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.reported) == 0 {
		s.Generation.setDamage(nil)
	}
}

// Sample is the result of a pass.
type Sample struct {
	Documents int // compared
	Sets      int // counted
	Lost      []Difference
	Restored  int  // documents written again, without those of a rebuild
	Evicted   bool // a server has evicted keys since the previous pass
	Behind    bool // the projector is too far behind; some documents were not checked
	Took      time.Duration
}

// RunOnce runs a pass if the last one was long enough ago. Without an epoch it does nothing: readers use SQL, and a
// rebuild follows.
func (s *Sampler) RunOnce(ctx context.Context) error {
	begun, epoch := s.Now(), s.Generation.Epoch()
	if epoch == "" || inFuture(begun, s.nextPass, maxSampleIdle) {
		return nil
	}
	p := samplePass{Sampler: s}
	err := p.run(ctx)
	p.Took = s.Now().Sub(begun)
	// The pause also follows an error, so that a slow database is not queried more often.
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

// respond restores losses, and clears the damage after a pass without any.
func (s *Sampler) respond(ctx context.Context, p *Sample, epoch string) error {
	if s.rebuildOwed != epoch { // another rebuild may have completed meanwhile
		s.rebuildOwed = ""
	}
	p.Lost = append(p.Lost, s.takeReported()...)
	switch {
	case len(p.Lost) > 0:
		s.rebuildOwed = epoch
		// The damage is recorded before the repair, so that meanwhile no list is read from the damaged sets.
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
		s.clearDamage()
	}
	if s.rebuildOwed == "" || inFuture(s.Now(), s.nextBuild, maxBuildIdle) {
		return nil
	}
	return s.rebuild(ctx)
}

// inFuture reports whether an instant is in the future. It returns false for an instant further away than most, which
// was stored before the clock was set back.
func inFuture(now, until time.Time, most time.Duration) bool {
	wait := until.Sub(now)
	return wait > 0 && wait <= most
}

// errLost returns the entities with losses, for operators. Keys may contain e-mail addresses and are left out.
func errLost(lost []Difference) error {
	var names []string
	for _, d := range lost {
		if !slices.Contains(names, d.Ref.Entity.Name) {
			names = append(names, d.Ref.Entity.Name)
		}
	}
	return fault.Newf(fault.Unavailable, "documents_lost",
		"Redis has lost document keys (%s). They are being restored; lists are read from SQL meanwhile.",
		strings.Join(names, ", "))
}

var errEvicted = fault.New(fault.Unavailable, "documents_evicted",
	"Redis has evicted keys to free memory. Documents are being restored; lists are read from SQL meanwhile.")

// restore writes documents with losses again.
func (s *Sampler) restore(ctx context.Context, lost []Difference) (int, error) {
	refs := unique(seq.Map(lost, func(d Difference) Ref { return d.Ref }))
	return len(refs), s.Projector.Project(ctx, refs, nil)
}

// rebuild rebuilds all documents, unless another process is doing so; the new epoch then makes this rebuild
// unnecessary. The pause afterwards is limited, so that continuing losses are repaired again within minutes.
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
