// Package system provides operators with the status and the repair functions of an installation. The command line and
// the console's routes call the same Service.
//
// Long operations are limited in size and run one at a time per process, because the process also serves guests. Larger
// installations use the commands. Secrets are never shown.
package system

import (
	"context"
	"errors"
	"sync"
	"time"

	"comanda/internal/document"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/fault"
	"comanda/internal/keyspace/keyaudit"
	"comanda/internal/queue"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Limits of operations that run while a client waits for the response.
const (
	MaxReplayed  = 200       // dead letters per call
	MaxKeys      = 100_000   // Redis keys per audit
	MaxDocuments = 100_000   // documents per verification
	MaxScanned   = 1_000_000 // Redis keys per verification, also of other programs
)

// Faults of this package.
var (
	ErrBusy = &fault.Error{
		Kind: fault.Conflict, Code: "busy", RetryAfter: 5 * time.Second,
		Detail: "This is already running. Please try again when it has finished.",
	}
	ErrLetter      = fault.New(fault.NotFound, "dead_letter_not_found", "Dead letter not found.")
	ErrTooManyKeys = fault.Newf(fault.Conflict, "too_many_keys",
		"There are more than %d keys. Please use the command comanda keys audit.", MaxKeys)
)

// Config is the installation that a Service operates on. Commands leave Process and Epoch empty, because both describe
// a server.
type Config struct {
	DB        *sqldb.DB
	Redis     *redisdb.DB          // nil: embedded in a server that does not run
	Cache     stock.AdmissionCache // cache of a server that has it in memory; nil: in Redis
	Consumers []inbox.Consumer     // whose dead letters can be replayed
	Process   About                // facts about a server; UptimeSeconds and the engines but the broker are added
	Epoch     func() string        // epoch of a server's documents in Redis, "" while they are incomplete

	NoDocuments bool // the server keeps no documents in Redis
}

// Service provides the operators' functions, to the command line and to HTTP. They do not belong to a branch, so only
// accounts with access to all branches may use them over HTTP.
type Service struct {
	Config

	long       sync.Mutex // held during long operations of a server
	maxScanned int64
}

// NewService returns a Service for an installation.
func NewService(c Config) *Service { return &Service{Config: c, maxScanned: MaxScanned} }

// exclusive runs a long operation for a client that waits, unless another one is running: the process also serves
// guests. A second caller gets ErrBusy at once. If it waited, requests would accumulate behind a slow operation.
func exclusive[T any](s *Service, run func() (T, error)) (result T, err error) {
	if !s.long.TryLock() {
		return result, ErrBusy
	}
	defer s.long.Unlock()
	return run()
}

// About returns the version and the engines of this process.
func (s *Service) About(ctx context.Context) (About, error) {
	a := s.Process
	a.UptimeSeconds = s.DB.Now().Sub(a.StartedAt).Seconds()
	version, err := s.DB.Version(ctx)
	if err != nil {
		return a, err
	}
	a.Engines.SQL = string(s.DB.Engine()) + " " + version
	if r, err := s.Redis.Server(ctx); err == nil {
		a.Engines.Redis = r.Mode + " " + r.Version
	}
	a.RedisServers = append([]redisdb.ServerMemory{}, s.Redis.LastMemory().Servers...)
	return a, nil
}

// AuditKeys verifies the keys in Redis against their declarations. It returns ErrTooManyKeys if there are more than
// MaxKeys.
func (s *Service) AuditKeys(ctx context.Context) (keyaudit.Report, error) {
	return exclusive(s, func() (keyaudit.Report, error) {
		r, err := keyaudit.Run(ctx, s.Redis, keyaudit.Options{MaxKeys: MaxKeys, Rate: MaxKeys})
		if errors.Is(err, keyaudit.ErrTooMany) {
			err = ErrTooManyKeys
		}
		return r, err
	})
}

// Outbox is the state of everything that is processed after a commit, and of dead letters.
type Outbox struct {
	Pending            int64                   `json:"pending"`
	OldestAgeSeconds   float64                 `json:"oldestAgeSeconds"`
	ByType             []queue.PendingCount    `json:"byType"`
	Dead               []queue.DeadLetterCount `json:"dead"`
	PublishedPerMinute int64                   `json:"publishedPerMinute" doc:"In the last minute; at most 10000 are counted."`
	LastHour           outbox.States           `json:"lastHour" doc:"Events created in the last hour, by state."`
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

	VerifiedAt  *time.Time `json:"verifiedAt" doc:"End of the last comparison of all documents with SQL; null before the first."`
	Differences int        `json:"differences" doc:"Found by that comparison."`
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
	Relayed int `json:"relayed" doc:"Events moved back to the outbox."`
	Applied int `json:"applied" doc:"Events applied by their consumers."`
	Failed  int `json:"failed" doc:"Events that failed again."`
	Revived int `json:"revived" doc:"Entries queued for Redis again."`
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
	Cache       string   `json:"cache" enum:"COMPARED,NOT_LOADED,UNAVAILABLE" doc:"Otherwise clean is about SQL only. NOT_LOADED: the admission cache holds nothing yet, as after a start."`
	Note        string   `json:"note,omitempty"`
}

// The states of the admission cache in a reconciliation.
const (
	CacheCompared    = "COMPARED"
	CacheNotLoaded   = "NOT_LOADED"
	CacheUnavailable = "UNAVAILABLE"
)

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

	RedisServers []redisdb.ServerMemory `json:"redisServers" doc:"Memory of each Redis master; empty without a Redis server."`
}

// Engines are the versions of the servers in use; empty for an unavailable one.
type Engines struct {
	SQL    string `json:"sql" example:"postgres 17.2"`
	Redis  string `json:"redis" example:"standalone 8.0.1"`
	Broker string `json:"broker" enum:"in process,rabbitmq"`
}
