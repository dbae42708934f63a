package system

import (
	"context"
	"encoding/json"
	"time"

	"comanda/internal/document"
	"comanda/internal/identity"
	"comanda/internal/keyspace/audit"
)

// Outbox is everything that waits after a commit, and what was given up.
type Outbox struct {
	Pending            int64     `json:"pending"`
	OldestAgeSeconds   float64   `json:"oldestAgeSeconds"`
	ByType             []Pending `json:"byType"`
	Dead               []Dead    `json:"dead"`
	PublishedPerMinute int64     `json:"publishedPerMinute" doc:"In the last minute; no more than 10000 are counted."`
	Redis              Redis     `json:"redis"`
	Documents          Documents `json:"documents"`
}

// Pending is what waits of one type of events.
type Pending struct {
	Type   string `json:"type"`
	Events int64  `json:"events"`
}

// Dead is how many dead letters a consumer has.
type Dead struct {
	Consumer string `json:"consumer" doc:"relay for what could not be published."`
	Letters  int64  `json:"letters"`
}

// Redis is what Redis has not taken in of the ledger's decisions.
type Redis struct {
	Pending          int64   `json:"pending"`
	OldestAgeSeconds float64 `json:"oldestAgeSeconds"`
	Dead             int64   `json:"dead"`
	DeadAgeSeconds   float64 `json:"deadAgeSeconds" doc:"Of the first that was given up."`
}

// Documents is what Redis has not taken in of the documents.
type Documents struct {
	Pending          int64   `json:"pending"`
	OldestAgeSeconds float64 `json:"oldestAgeSeconds"`
}

// The names by which dead letters without a consumer are asked for.
const (
	RelayLetters = "relay" // what the relay gave up
	RedisLetters = "redis" // what Redis refused too often
)

// LetterFilter selects dead letters; empty fields select all, but those of Redis are given only where they are asked for.
type LetterFilter struct {
	Consumer      string
	Type          string
	ID            string
	Limit, Offset int
}

// Letter is a dead letter. An event that several consumers gave up is one for each of them.
type Letter struct {
	ID        string
	Consumer  string
	Type      string // empty with RedisLetters
	Branch    int64  // 0 for none
	About     string // aggregate and its id, or the scope of the gate
	Payload   json.RawMessage
	Reason    string
	CreatedAt time.Time
	DiedAt    time.Time
}

// ReplayFilter selects dead letters; empty fields select all.
type ReplayFilter struct {
	Consumer string
	Type     string
	ID       string
}

// Replayed tells what became of dead letters.
type Replayed struct {
	Relayed int `json:"relayed" doc:"Back in the outbox."`
	Applied int `json:"applied" doc:"By their consumers."`
	Failed  int `json:"failed" doc:"Once more."`
	Revived int `json:"revived" doc:"Tried on Redis again."`
}

// Sum is how many letters were taken up.
func (r Replayed) Sum() int { return r.Relayed + r.Applied + r.Failed + r.Revived }

func (r Replayed) plus(o Replayed) Replayed {
	return Replayed{r.Relayed + o.Relayed, r.Applied + o.Applied, r.Failed + o.Failed, r.Revived + o.Revived}
}

// Reconciliation is what a comparison of ledger, stock, holds, orders, money and Redis has found.
type Reconciliation struct {
	Clean       bool     `json:"clean"`
	Differences []string `json:"differences"`
	Scopes      int      `json:"scopes" doc:"Compared with Redis."`
	Note        string   `json:"note,omitempty"`
}

// Index is how the documents in Redis are.
type Index struct {
	Whole        bool                   `json:"whole" doc:"They are read; otherwise SQL is asked until they are rebuilt."`
	Documents    int                    `json:"documents"`
	Verification *document.Verification `json:"verification" doc:"null where there are too many to be compared while somebody waits."`
	Note         string                 `json:"note,omitempty"`
}

// About is what this process is.
type About struct {
	Version       string    `json:"version"`
	Revision      string    `json:"revision"`
	GoVersion     string    `json:"goVersion"`
	StartedAt     time.Time `json:"startedAt"`
	UptimeSeconds float64   `json:"uptimeSeconds"`
	Roles         []string  `json:"roles" doc:"Of this process: api, worker, relay."`
	Engines       Engines   `json:"engines"`
}

// Engines is what this process works on. One that cannot be asked is empty.
type Engines struct {
	SQL    string `json:"sql" example:"postgres 17.2"`
	Redis  string `json:"redis" example:"standalone 8.0.1"`
	Broker string `json:"broker" enum:"in process,rabbitmq"`
}

// Works is the running installation.
type Works interface {
	Outbox(ctx context.Context) (Outbox, error)
	// Letters gives a page of dead letters, the newest first, and how many there are in all.
	Letters(ctx context.Context, f LetterFilter) ([]Letter, int64, error)
	// Replay brings dead letters on their way again.
	Replay(ctx context.Context, f ReplayFilter) (Replayed, error)
	// Record writes into the audit log.
	Record(ctx context.Context, e identity.AuditEntry) error
	// AuditKeys compares Redis with the declarations, unless it has more keys than most: then it is ErrTooManyKeys.
	AuditKeys(ctx context.Context, most int64) (audit.Report, error)
	// Reconcile compares what belongs to a branch, or everything with 0.
	Reconcile(ctx context.Context, branch int64) (Reconciliation, error)
	// Index compares the documents with SQL, unless there are more than most.
	Index(ctx context.Context, most int) (Index, error)
	About(ctx context.Context) (About, error)
}
