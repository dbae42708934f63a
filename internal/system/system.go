package system

import (
	"time"

	"comanda/internal/document"
	"comanda/internal/queue"
)

// Outbox is the state of everything that is processed after a commit, and of dead letters.
type Outbox struct {
	Pending            int64                   `json:"pending"`
	OldestAgeSeconds   float64                 `json:"oldestAgeSeconds"`
	ByType             []queue.PendingCount    `json:"byType"`
	Dead               []queue.DeadLetterCount `json:"dead"`
	PublishedPerMinute int64                   `json:"publishedPerMinute" doc:"In the last minute; at most 10000 are counted."`
	Redis              Redis                   `json:"redis"`
	Documents          Documents               `json:"documents"`
}

// Redis is the backlog of committed changes that Redis has not applied yet.
type Redis struct {
	Pending          int64   `json:"pending"`
	OldestAgeSeconds float64 `json:"oldestAgeSeconds"`
	Dead             int64   `json:"dead"`
	DeadAgeSeconds   float64 `json:"deadAgeSeconds" doc:"Age of the oldest dead letter."`
}

// Documents is the backlog of document changes that Redis has not applied yet.
type Documents struct {
	Pending          int64   `json:"pending"`
	OldestAgeSeconds float64 `json:"oldestAgeSeconds"`
}

// DeadLetterFilter selects dead letters. Empty fields select all, except that letters of Redis must be requested
// explicitly. Only lists have pages: a replay ignores Limit and Offset, and includes letters of Redis.
type DeadLetterFilter struct {
	Consumer      string
	Type          string
	ID            string
	Limit, Offset int
}

// Replayed counts replayed dead letters by result.
type Replayed struct {
	Relayed int `json:"relayed" doc:"Back in the outbox."`
	Applied int `json:"applied" doc:"Applied by their consumers."`
	Failed  int `json:"failed" doc:"Failed again."`
	Revived int `json:"revived" doc:"Queued for Redis again."`
}

// Sum returns the number of processed letters.
func (r Replayed) Sum() int { return r.Relayed + r.Applied + r.Failed + r.Revived }

func (r Replayed) plus(o Replayed) Replayed {
	return Replayed{r.Relayed + o.Relayed, r.Applied + o.Applied, r.Failed + o.Failed, r.Revived + o.Revived}
}

// Reconciliation is the result of comparing ledger, stock, holds, orders, money and Redis.
type Reconciliation struct {
	Clean       bool     `json:"clean"`
	Differences []string `json:"differences"`
	Scopes      int      `json:"scopes" doc:"Compared with Redis."`
	Note        string   `json:"note,omitempty"`
}

// Index is the state of the documents in Redis.
type Index struct {
	Whole        bool                   `json:"whole" doc:"true if reads use them; otherwise reads use SQL until they are rebuilt."`
	Documents    int                    `json:"documents"`
	Verification *document.Verification `json:"verification" doc:"null if there are too many to compare within a request."`
	Note         string                 `json:"note,omitempty"`
}

// About describes this process.
type About struct {
	Version       string    `json:"version"`
	Revision      string    `json:"revision"`
	GoVersion     string    `json:"goVersion"`
	StartedAt     time.Time `json:"startedAt"`
	UptimeSeconds float64   `json:"uptimeSeconds"`
	Roles         []string  `json:"roles" doc:"Roles of this process: api, worker, relay."`
	Engines       Engines   `json:"engines"`
}

// Engines are the versions of the servers in use; empty for an unavailable one.
type Engines struct {
	SQL    string `json:"sql" example:"postgres 17.2"`
	Redis  string `json:"redis" example:"standalone 8.0.1"`
	Broker string `json:"broker" enum:"in process,rabbitmq"`
}
