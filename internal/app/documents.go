package app

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/document"
	"comanda/internal/document/documentredis"
	"comanda/internal/document/documentsql"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/telemetry"
	"comanda/internal/uid"
)

// documents is the document services on their stores.
type documents struct {
	Documents       *document.Reader
	Projector       *document.Projector
	Generation      *document.Generation
	Sampler         *document.Sampler
	documentStore   *documentsql.Store
	documentBacklog backlogGauges
}

// newDocuments creates the services without their loops.
func newDocuments(db *sqldb.DB, redis *redisdb.DB) documents {
	rows, cache := documentsql.New(db), documentredis.New(redis)
	p := documents{documentStore: rows}
	p.Projector = &document.Projector{Source: rows, Outbox: rows, Writer: cache, Now: db.Now}
	builder := p.builder(db, cache)
	p.Generation = &document.Generation{Store: rows, Markers: cache, Build: builder.Build}
	p.Documents = &document.Reader{Source: rows, Cache: cache, State: p.Generation, Repair: p.Projector.Touch}
	p.Sampler = &document.Sampler{
		Source: rows, Counts: rows, Mirror: cache, Projector: p.Projector, Generation: p.Generation, Now: db.Now,
		IdleFactor: sampleRest, BuildIdleFactor: buildRest,
	}
	return p
}

// builder returns the rebuild that the loops start. It uses the projector of the loop.
func (p documents) builder(db *sqldb.DB, cache *documentredis.Store) *document.Builder {
	return &document.Builder{
		Source: p.documentStore, Projector: p.Projector, Sweeper: cache, Store: p.documentStore, Markers: cache,
		Now: db.Now, NewID: uid.New,
	}
}

func (k *Core) wireDocuments(reg prometheus.Registerer) {
	k.documents = newDocuments(k.DB, k.Redis)
	f := telemetry.Metrics(reg)
	projected := f.Counter("document_projected_total", "Documents written to Redis after a change.")
	k.Projector.Observe = func(n int) { projected.Add(float64(n)) }
	k.documentBacklog = backlogGauges{
		pending: f.Gauge("document_outbox_pending", "Changes whose documents are not written to Redis yet."),
		age: f.Gauge("document_outbox_oldest_age_seconds",
			"Age of the oldest change whose documents are not written to Redis yet."),
	}
	f.GaugeFunc("document_plane_whole", "1 while the documents in Redis are complete, 0 while SQL is read instead.",
		func() float64 { return telemetry.Truth(k.Generation.Epoch() != "") })
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
	// A server that was replaced may have old data. SQL is read until the next check has compared the markers.
	k.Redis.OnChange(func(redisdb.Change) { k.Generation.Invalidate() })
	k.wireSampler(reg)
}

// rebuildTimeout limits one round of a rebuild; a longer rebuild continues in the next.
const rebuildTimeout = 10 * time.Minute

// measureDocuments exports the backlog of the projector; it is part of the loop of measurements.
func (k *Core) measureDocuments(ctx context.Context) error {
	return k.documentBacklog.measure(k.documentStore.Backlog(ctx, k.DB.Now()))
}

// keepTombstones is far longer than a projection may be late, and than Redis remembers a deletion.
const keepTombstones = time.Hour

func (k *Core) purgeTombstones(ctx context.Context) error {
	return k.documentStore.PurgeTombstones(ctx, k.DB.Now().Add(-keepTombstones))
}
