package system

import (
	"context"
	"errors"
	"sync"
	"time"

	"comanda/internal/event/inbox"
	"comanda/internal/fault"
	"comanda/internal/keyspace/keyaudit"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
)

// Limits of operations that run while a client waits for the response.
const (
	MaxReplayed  = 200     // dead letters per call
	MaxKeys      = 100_000 // Redis keys per audit
	MaxDocuments = 100_000 // documents per verification
)

// Faults of this package.
var (
	ErrBusy = &fault.Error{
		Kind: fault.Conflict, Code: "busy", RetryAfter: 5 * time.Second,
		Detail: "This is already running. Please try again when it has finished.",
	}
	ErrLetter      = fault.New(fault.NotFound, "dead_letter_not_found", "There is no such dead letter.")
	ErrTooManyKeys = fault.Newf(fault.Conflict, "too_many_keys",
		"There are more than %d keys. Please use the command comanda keys audit.", MaxKeys)
)

// Config is the installation that a Service works on. Commands leave Process and Epoch empty, because they are about a
// server.
type Config struct {
	DB        *sqldb.DB
	Redis     *redisdb.DB      // nil: embedded in a server that does not run
	Consumers []inbox.Consumer // whose dead letters can be replayed
	Process   About            // of a server; UptimeSeconds and the engines but the broker are added
	Epoch     func() string    // of a server's documents in Redis, "" while they are incomplete
}

// Service provides the operators' functions, to the command line and to HTTP. They do not belong to a branch, so only
// accounts with access to all branches may use them over HTTP.
type Service struct {
	Config

	long sync.Mutex // held during long operations of a server
}

// NewService returns a Service for an installation.
func NewService(c Config) *Service { return &Service{Config: c} }

// exclusive runs a long operation for a client that waits, unless another one is running: the process also serves
// guests. A second caller gets ErrBusy at once and never waits: waiting requests would pile up behind a slow one.
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
