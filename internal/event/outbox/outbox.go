package outbox

import (
	"context"
	"embed"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/telemetry"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// Queue adds the insertion of events to the caller's transaction as a single statement. They are published after the
// commit, independent of any clock.
func Queue(tx sqldb.Tx, events []event.Event) {
	if len(events) > 0 {
		tx.Queue(stmt("event_append"), eventsql.RowSet(events, func(e event.Event) event.Event { return e }))
	}
}

// entry is an event with its place in event_log or its state in event_retry.
type entry struct {
	event.Event
	position    int64 // in event_log; zero in event_retry
	availableAt int64 // unix milliseconds; zero means immediately
	attempts    int64 // number of refusals of the event itself
}

func (e entry) event() event.Event { return e.Event }

// queueRetries adds the insertion of rows of event_retry to a transaction.
func queueRetries(tx sqldb.Tx, rows []entry) {
	if len(rows) == 0 {
		return
	}
	tx.Queue(stmt("retry_insert"), eventsql.RowSet(rows, entry.event).
		Int("available_at", func(i int) int64 { return rows[i].availableAt }).
		Int("attempts", func(i int) int64 { return rows[i].attempts }))
}

// scanRetry reads a row of retry_take or retry_select.
func scanRetry(r sqldb.Rows) (e entry, err error) {
	e.Event, err = eventsql.Scan(r, &e.availableAt, &e.attempts)
	return e, err
}

// scanLogged reads a row of event_page.
func scanLogged(r sqldb.Rows) (e entry, err error) {
	e.Event, err = eventsql.Scan(r, &e.position)
	return e, err
}

// purgeStep is the maximum number of rows per purging statement, so that a purge never blocks the writer for long.
const purgeStep = 2000

// PurgeLog deletes published events that were created before an instant, and returns their number. Positions ascend nearly
// as the times do, so it ends at the first page without an old event. Each page is deleted in a transaction of its own, so
// the purge may be interrupted at any point.
func PurgeLog(ctx context.Context, db *sqldb.DB, before time.Time) (purged int64, err error) {
	for last := int64(0); ; {
		first := last
		last, err = sqldb.Scalar[int64](ctx, db, stmt("event_purge_page"), first, before.UnixMilli(), purgeStep,
			db.Now().UnixMilli())
		if err != nil || last == 0 {
			return purged, err
		}
		n, err := db.Exec(ctx, stmt("event_purge"), first, last, before.UnixMilli())
		purged += n
		if err != nil {
			return purged, err
		}
	}
}

// MoveDeadlines moves the instants of the next attempts by the same amount as the deciding clock was set. It returns
// the number of moved rows. Rows that are due immediately have no instant and stay.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("retry_deadline_move"), by.Milliseconds())
}

// Status is the state of the outbox for operators.
type Status struct {
	Pending          int64
	OldestAgeSeconds float64
	ByType           []queue.PendingCount
	Dead             []queue.DeadLetterCount
}

// ReadStatus counts pending events and dead letters. It needs no running relay, so the command line can call it. Its
// statements see slightly different moments. It groups all pending events, so its cost grows with the backlog.
func ReadStatus(ctx context.Context, db *sqldb.DB) (Status, error) {
	s := Status{ByType: []queue.PendingCount{}, Dead: []queue.DeadLetterCount{}}
	oldest := int64(0)
	byType, err := sqldb.Collect(ctx, db, func(r sqldb.Rows) (p queue.PendingCount, err error) {
		var first int64
		err = r.Scan(&p.Type, &p.Events, &first)
		if oldest == 0 || first < oldest {
			oldest = first
		}
		return p, err
	}, stmt("pending_count"))
	if err != nil {
		return s, err
	}
	for _, p := range byType {
		s.Pending += p.Events
	}
	if s.Pending > 0 {
		s.OldestAgeSeconds = max(0, db.Now().Sub(time.UnixMilli(oldest)).Seconds())
	}
	s.ByType = append(s.ByType, byType...)
	dead, err := eventsql.CountDeadLetters(ctx, db)
	s.Dead = append(s.Dead, dead...)
	return s, err
}

// replayStep is the maximum number of dead letters per transaction of a replay.
const replayStep = 500

// Replay moves the relay's dead letters to event_retry with no attempts counted, and returns their number. The
// filter's consumer is ignored: dead letters of a consumer are replayed to that consumer only, by inbox.Inbox.Replay.
// Each page is one transaction: a letter is never in both tables or in neither.
func Replay(ctx context.Context, db *sqldb.DB, f eventsql.Filter) (replayed int, err error) {
	f.Consumer = ""
	for after := ""; ; {
		letters, err := eventsql.DeadLetters(ctx, db, f, after, replayStep)
		if err != nil || len(letters) == 0 {
			return replayed, err
		}
		after = letters[len(letters)-1].ID
		// Counted after the commit, because Write may run the function again.
		moved := 0
		err = db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
			taken, err := eventsql.DeleteDeadLetters(ctx, tx, "", letters)
			moved = len(taken)
			queueRetries(tx, entriesOf(taken))
			return err
		})
		if err != nil {
			return replayed, err
		}
		replayed += moved
	}
}

func entriesOf(letters []eventsql.DeadLetter) []entry {
	rows := make([]entry, len(letters))
	for i, l := range letters {
		rows[i].Event = l.Event
	}
	return rows
}

// Metrics are the relay's metrics.
type Metrics struct {
	pending   prometheus.Gauge
	oldest    prometheus.Gauge
	letters   *prometheus.GaugeVec
	published prometheus.Counter
	refused   prometheus.Counter
	dead      prometheus.Counter
}

// NewMetrics registers the relay's metrics with reg; if reg is nil they are not exported.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := telemetry.Metrics(reg)
	total := f.Counters("outbox_publish_total", "Events by result: published, refused by the publisher, or dead letter.",
		"result")
	return &Metrics{
		pending:   f.Gauge("outbox_pending", "Events waiting to be published."),
		oldest:    f.Gauge("outbox_oldest_age_seconds", "Age of the oldest event waiting to be published."),
		letters:   f.Gauges("dlq_messages", "Dead letters waiting for a replay, by consumer.", "consumer"),
		published: total.WithLabelValues("ok"),
		refused:   total.WithLabelValues("refused"),
		dead:      total.WithLabelValues("dead"),
	}
}

// measureInterval is the minimum time between two counts of the backlog. Counting a long backlog must cost less than
// relaying it.
const measureInterval = 5 * time.Second

// measure updates the gauges. It also runs after failures, when the backlog matters most.
func (r *Relay) measure(ctx context.Context) {
	now := r.now()
	if now.Sub(r.measured) < measureInterval || ctx.Err() != nil {
		return
	}
	r.measured = now
	s, err := ReadStatus(ctx, r.db)
	if err != nil {
		r.log.WarnContext(ctx, "the outbox could not be counted", "err", err)
		return
	}
	r.metrics.pending.Set(float64(s.Pending))
	r.metrics.oldest.Set(s.OldestAgeSeconds)
	// A consumer whose dead letters are all replayed no longer has a row; its series must not keep the old number.
	r.metrics.letters.Reset()
	for _, c := range s.Dead {
		r.metrics.letters.WithLabelValues(c.Consumer).Set(float64(c.Letters))
	}
}
