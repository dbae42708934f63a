package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/clock"
	"comanda/internal/document"
	"comanda/internal/document/documentredis"
	"comanda/internal/document/documentsql"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/telemetry"
	"comanda/internal/uid"
	"comanda/internal/worker"
)

// documents contains the document services on their stores.
type documents struct {
	Documents       *document.Reader
	Projector       *document.Projector // of all documents but those of orders
	OrderProjector  *document.Projector // of orders and their lines
	Generation      *document.Generation
	Sampler         *document.Sampler
	Daily           *document.DailyVerifier
	documentStore   *documentsql.Store
	documentBacklog backlogGauges
	verified        verifiedGauges
}

// newDocuments creates the services without their loops.
func newDocuments(db *sqldb.DB, redis *redisdb.DB) documents {
	rows, cache := documentsql.New(db), documentredis.New(redis)
	p := documents{documentStore: rows}
	orders, others := rows.Lanes()
	p.Projector = &document.Projector{Source: rows, Outbox: others, Writer: cache, Now: db.Now}
	p.OrderProjector = &document.Projector{Source: rows, Outbox: orders, Writer: cache, Now: db.Now}
	builder := p.builder(db, cache)
	p.Generation = &document.Generation{Store: rows, Markers: cache, Build: builder.Build}
	p.Documents = &document.Reader{Source: rows, Cache: cache, State: p.Generation, Repair: p.Projector.Touch}
	p.Sampler = &document.Sampler{
		Source: rows, Counts: rows, Mirror: cache, Projector: p.Projector, Generation: p.Generation, Now: db.Now,
		IdleFactor: sampleRest, BuildIdleFactor: buildRest,
	}
	p.Projector.Forgotten, p.OrderProjector.Forgotten = p.Sampler.Report, p.Sampler.Report
	return p
}

// builder returns the rebuild that the loops start. It uses the projector of the loop.
func (p documents) builder(db *sqldb.DB, cache *documentredis.Store) *document.Builder {
	return &document.Builder{
		Source: p.documentStore, Projector: p.Projector, Sweeper: cache, Store: p.documentStore, Markers: cache,
		Now: db.Now, NewID: uid.New,
	}
}

// userIndex implements account.UserIndex by the documents, whose indexes have every unique value.
type userIndex struct{ core *Core }

// FindUser implements account.UserIndex.
func (x userIndex) FindUser(ctx context.Context, index, value string) (id int64, found bool, err error) {
	d, found, err := x.core.Documents.FindUnique(ctx, document.User, index, value)
	if err != nil || !found {
		return 0, false, err
	}
	id, err = strconv.ParseInt(d.ID, 10, 64)
	return id, err == nil, err
}

// keepsDocuments reports whether documents are written to Redis. The store inside this process has them only if other
// programs may read it: this process reads SQL as fast, and writing them would cost more than an order. A PostgreSQL
// database may have further processes with a Redis.
func (k *Core) keepsDocuments() bool {
	return !k.Redis.InProcess() || k.Config.RedisListen != "" || k.DB.Engine() != sqldb.SQLite
}

// documentInterval is most of the delay until readers see a change.
const documentInterval = 50 * time.Millisecond

// documentLoops project changes and rebuild lost documents; any process may claim the work. Documents of orders have a loop
// of their own, so that a changed dish does not wait behind ten thousand orders.
func (k *Core) documentLoops() []worker.Loop {
	if !k.keepsDocuments() {
		return []worker.Loop{{
			// The interval is how long a changed dish may be shown as it was.
			Name: "documents", Run: k.discardChanges, Every: 250 * time.Millisecond, Timeout: time.Minute,
		}}
	}
	return []worker.Loop{
		{
			Name: "documents", Run: k.Projector.RunOnce, Every: documentInterval, Timeout: time.Minute,
			MaxPause: 5 * time.Second,
		},
		{
			Name: "order_documents", Run: k.OrderProjector.RunOnce, Every: documentInterval, Timeout: time.Minute,
			MaxPause: 5 * time.Second,
		},
		{
			Name: "document_plane", Run: k.Generation.Reconcile, Every: time.Second, Timeout: rebuildTimeout,
			MaxPause: 5 * time.Second,
		},
		{
			Name: "document_sample", Run: k.Sampler.RunOnce, Every: sampleInterval, Timeout: rebuildTimeout,
			MaxPause: 5 * time.Second,
		},
	}
}

// checkDocuments is the readiness check of the documents.
func (k *Core) checkDocuments(ctx context.Context) error {
	if !k.keepsDocuments() {
		return nil
	}
	return k.Generation.Check(ctx)
}

// wireDocuments creates the documents in Redis with their metrics, and connects them to changes of the server.
func (k *Core) wireDocuments(reg prometheus.Registerer) {
	k.documents = newDocuments(k.DB, k.Redis)
	f := telemetry.Metrics(reg)
	projected := f.Counter("document_projected_total", "Documents written to Redis after a change.")
	k.Projector.Observe = func(n int) { projected.Add(float64(n)) }
	k.OrderProjector.Observe = k.Projector.Observe
	k.documentBacklog = backlogGauges{
		pending: f.Gauge("document_outbox_pending", "Changes whose documents are not written to Redis yet."),
		age: f.Gauge("document_outbox_oldest_age_seconds",
			"Age of the oldest change whose documents are not written to Redis yet."),
	}
	f.GaugeFunc("document_plane_whole",
		"1 while the documents in Redis are complete, or if none are kept there; 0 while SQL is read instead.",
		func() float64 { return telemetry.Truth(k.Generation.Epoch() != "" || !k.keepsDocuments()) })
	built := f.Counting("document_rebuild_total", "Rebuilds of all documents, by result.", "result")
	build := k.Generation.Build
	k.Generation.Build = func(ctx context.Context) error {
		err := build(ctx)
		switch {
		case err == nil:
			built("ok")
		case !errors.Is(err, document.ErrRebuildRunning):
			built("failed")
		}
		return err
	}
	// A server that was replaced may have old data. Documents are read from SQL until the next check has compared the
	// markers.
	k.Redis.OnChange(func(redisdb.Change) { k.Generation.Invalidate() })
	k.wireSampler(reg)
	k.wireVerifier(reg)
}

// rebuildTimeout limits one round of a rebuild; a longer rebuild continues in the next.
const rebuildTimeout = 10 * time.Minute

// measureDocuments exports the backlog of the projector and the last comparison; it is part of the loop of measurements.
func (k *Core) measureDocuments(ctx context.Context) error {
	k.measureVerified(ctx)
	return k.documentBacklog.measure(k.documentStore.Backlog(ctx, k.DB.Now()))
}

// keepTombstones is how long deletions are kept: far longer than a projection may be late, and than Redis keeps a
// deletion.
const keepTombstones = time.Hour

func (k *Core) purgeTombstones(ctx context.Context) error {
	return k.documentStore.PurgeTombstones(ctx, k.DB.Now().Add(-keepTombstones))
}

// sampleInterval is the interval of checks for documents that Redis has lost. A pass is followed by a pause of
// sampleRest times its duration, a rebuild by buildRest times. Together they take less than a fifth of one
// connection's time, whatever the number of documents and the speed of the machine. With 100,000 documents all sets
// are checked within the ten seconds in which a loss must be repaired.
const (
	sampleInterval = time.Second
	sampleRest     = 10
	buildRest      = 10
)

// sampleMetrics are the sampler's metrics.
type sampleMetrics struct {
	pass     func(result string)
	compared prometheus.Counter
	lost     *prometheus.CounterVec
	restored prometheus.Counter
	took     prometheus.Histogram
	evicting prometheus.Gauge
	evicted  prometheus.Gauge
}

// wireSampler adds metrics to the sampler and lets it read the servers' eviction counters.
func (k *Core) wireSampler(reg prometheus.Registerer) {
	f := telemetry.Metrics(reg)
	m := &sampleMetrics{
		pass: f.Counting("document_sample_total", "Samples of documents in Redis, by result.", "result",
			sampleClean, sampleLost, sampleEvicted, sampleBehind),
		compared: f.Counter("document_sample_compared_total", "Documents compared and sets counted by samples."),
		lost:     f.Counters("document_lost_total", "Differences between SQL and Redis found by samples, by kind.", "kind"),
		restored: f.Counter("document_restored_total", "Documents restored because a sample found them incomplete."),
		took:     f.Histogram("document_sample_duration_seconds", "Duration of samples, without repairs."),
		evicting: f.Gauge("redis_evicting_servers", "Redis masters whose maxmemory-policy is not noeviction."),
		evicted:  f.Gauge("redis_evicted_keys", "Keys evicted by Redis masters since their start."),
	}
	f.GaugeFunc("document_damaged", "1 while lost documents are being restored and lists are read from SQL.",
		func() float64 { return telemetry.Truth(k.Generation.Damaged()) })
	k.Sampler.Evictions = func(ctx context.Context) (int64, error) {
		memory, err := k.Redis.Memory(ctx)
		if err == nil {
			m.evicting.Set(float64(len(memory.Evicting())))
			m.evicted.Set(float64(memory.Evicted))
		}
		return memory.Evicted, err
	}
	k.Sampler.Observe = func(ctx context.Context, s document.Sample) { m.observe(ctx, s, k.Log) }
}

// Results of a sample.
const (
	sampleClean   = "clean"
	sampleLost    = "lost"
	sampleEvicted = "evicted"
	sampleBehind  = "behind" // the projector is behind, so the sample is incomplete
)

// observe counts a sample and logs losses. A sample has one result: losses take precedence over evictions, and both
// over a projector that is behind.
func (m *sampleMetrics) observe(ctx context.Context, s document.Sample, log *slog.Logger) {
	result := sampleClean
	switch {
	case len(s.Lost) > 0:
		result = sampleLost
	case s.Evicted:
		result = sampleEvicted
	case s.Behind:
		result = sampleBehind
	}
	m.pass(result)
	m.compared.Add(float64(s.Documents + s.Sets))
	m.restored.Add(float64(s.Restored))
	m.took.Observe(s.Took.Seconds())
	var what []string // kinds of losses only, because keys contain addresses
	for _, d := range s.Lost {
		m.lost.WithLabelValues(d.Kind).Inc()
		if w := d.Ref.Entity.Name + " " + d.Kind; !slices.Contains(what, w) {
			what = append(what, w)
		}
	}
	if len(s.Lost) > 0 || s.Evicted {
		log.WarnContext(ctx, "redis has lost keys of documents; they are restored", "differences", len(s.Lost),
			"kinds", strings.Join(what, ", "), "evictions", s.Evicted)
	}
}

// A process is busy while its commits of orders have busyBatch commands on average: a group commit has large batches
// exactly when commands wait for it, however fast the machine is. At a branch's usual load they have one or two.
// Between two commits the last verdict stays for busyChecks calls, some half a second.
const (
	busyBatch  = 16
	busyChecks = 10
)

// busyGroup returns a function that reports whether the commits of a group since its last call were large. It is for one
// goroutine.
func busyGroup(stats func() (batches, commands int64)) func() bool {
	var lastBatches, lastCommands int64
	var busy bool
	var unchanged int
	return func() bool {
		batches, commands := stats()
		newBatches, newCommands := batches-lastBatches, commands-lastCommands
		lastBatches, lastCommands = batches, commands
		if newBatches > 0 {
			busy, unchanged = newCommands >= busyBatch*newBatches, 0
		} else if unchanged++; unchanged > busyChecks {
			busy = false
		}
		return busy
	}
}

const (
	// verifyRest is the pause after each batch and each page of the daily comparison, in multiples of its duration, so that it
	// takes at most a fifth of one connection's time.
	verifyRest = 4
	// maxVerifyRest bounds one pause, so that a slow page does not stop the comparison for minutes.
	maxVerifyRest = time.Second

	verifyTimeout = 3 * time.Hour // of one comparison; as long as its claim
)

// verifyLoop compares the documents with SQL once per business day. Any process with the role may do it.
func (k *Core) verifyLoop() worker.Loop {
	return whenReliable(k.DB.Clock(), worker.Loop{
		Name: "document_verify", Run: k.Daily.RunOnce, Every: time.Minute, Timeout: verifyTimeout, MaxPause: 10 * time.Minute,
	})
}

// wireVerifier creates the daily comparison and its metrics.
func (k *Core) wireVerifier(reg prometheus.Registerer) {
	f := telemetry.Metrics(reg)
	k.verified.drift = f.Gauge("document_drift", "Differences between SQL and Redis that the last complete comparison found.")
	k.verified.at = f.Gauge("document_verified_timestamp_seconds", "Time of the last complete comparison; 0 before the first.")
	cache := documentredis.New(k.Redis)
	k.Daily = &document.DailyVerifier{
		Store: cache, Epoch: k.Generation.Epoch, Now: k.DB.Now, Start: k.quietHour,
		Verify: func(ctx context.Context) (document.Verification, error) {
			p := &pacer{begun: clock.Start()}
			v := &document.Verifier{
				Source: k.documentStore, Mirror: cache.Paced(p.rest), Pace: p.rest,
				Pause: func(ctx context.Context) error { return clock.Wait(ctx, maxVerifyRest) },
			}
			result, err := v.Verify(ctx)
			if err == nil && !result.Clean {
				k.Log.WarnContext(ctx, "the documents in redis differ from SQL", "found", result.Found)
			}
			return result, err
		},
	}
}

// verifiedGauges export the result of the last comparison, whichever process has made it.
type verifiedGauges struct{ drift, at prometheus.Gauge }

// measureVerified exports the last comparison. While Redis does not answer, the gauges keep their values.
func (k *Core) measureVerified(ctx context.Context) {
	if !k.keepsDocuments() || !k.Redis.Up() {
		return
	}
	v, ok, err := k.Daily.Store.LastVerified(ctx)
	if err != nil {
		return
	}
	k.verified.drift.Set(float64(v.Differences()))
	k.verified.at.Set(0)
	if ok {
		k.verified.at.Set(float64(v.At.Unix()))
	}
}

// quietHour returns the start of the first branch's business day, when the restaurant is closed. Without a branch it is
// midnight UTC.
func (k *Core) quietHour(ctx context.Context, now time.Time) (time.Time, error) {
	branches, err := k.Branches.Store.Branches(ctx)
	if err != nil || len(branches) == 0 {
		return now.UTC().Truncate(24 * time.Hour), err
	}
	return branches[0].Calendar().At(now).Start, nil
}

// pacer rests after each unit of work. It is used by one goroutine at a time.
type pacer struct{ begun clock.Stopwatch }

func (p *pacer) rest(ctx context.Context) error {
	err := clock.Wait(ctx, min(verifyRest*p.begun.Elapsed(), maxVerifyRest))
	p.begun = clock.Start()
	return err
}
