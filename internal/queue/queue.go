// Package queue defines the outcome of delivering rows of an outbox table: what all of these tables have in common,
// whatever they carry. Package queuesql stores it.
//
// A row is written in the transaction of its change and delivered afterwards, at least once:
//
//  1. A row is in its table from the commit of its change until it is delivered or until it is a dead letter. Nothing
//     else deletes it.
//  2. A claim ends by itself, so the rows of a process that died are delivered by another one.
//  3. Only a failure of the row itself counts as an attempt. While the destination is out of reach, rows are released
//     with the attempts that they had.
//  4. A failure is recorded only if no other process has claimed or failed the row since: attempts number the claims.
package queue

import (
	"encoding/json"
	"strings"
	"time"

	"comanda/internal/backoff"
)

// Policy determines how often and after which pauses a row is tried. MaxAttempts counts all attempts, including
// the first. The pauses have no jitter: each is stored with its row as the instant of the next attempt.
type Policy struct {
	backoff.Policy
	MaxAttempts int
}

// Failure is a row that was not delivered.
type Failure struct {
	ID       string
	Read     int       // attempts of the row when it was claimed or read; a row with another number is not changed
	Attempts int       // the new number of attempts
	Due      time.Time // time of the next attempt
	Dead     bool      // there is no next attempt
	Reason   string    // empty for a released row
}

// Failed returns the failure of a row after an attempt: the row is retried, or dead after the last attempt. read is
// the number of attempts when the caller read the row, attempts the number now. For a claimed row they are equal,
// because the claim has counted the attempt. For a row that is delivered without a claim, attempts is read+1.
func (p Policy) Failed(id string, read, attempts int, now time.Time, cause error) Failure {
	return Failure{
		ID: id, Read: read, Attempts: attempts, Due: now.Add(p.After(attempts)), Dead: attempts >= p.MaxAttempts,
		Reason: Reason(cause.Error()),
	}
}

// Released returns the failure of a row that was claimed and not tried. It subtracts the attempt that the claim has
// counted, so an outage of the destination uses up no attempts (rule 3). due is the end of a pause, or now if another
// process may continue at once.
func Released(id string, read int, due time.Time) Failure {
	return Failure{ID: id, Read: read, Attempts: read - 1, Due: due}
}

// maxReason is the maximum length of a stored error text in bytes. It bounds the row, however long the text is that a
// destination returns.
const maxReason = 1000

// Reason truncates an error text to maxReason bytes and replaces invalid UTF-8 and NUL bytes, which PostgreSQL refuses
// in text. A cut inside a character would make the text invalid again, so it is cleaned a second time after the cut.
func Reason(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "")
	}
	return s
}

// Names in place of a consumer for dead letters that no consumer of events has caused.
const (
	RelayConsumer = "relay" // events that the relay could not publish
	RedisConsumer = "redis" // changes that the admission cache has rejected
)

// DeadLetter is a row or an event that is no longer tried, for operators. An event that failed at several consumers
// is one dead letter for each. All outbox tables share this view, so that the console and the command line list and
// retry them in one way (decision 42).
type DeadLetter struct {
	ID        string
	Consumer  string
	Type      string // event type; empty for RedisConsumer
	Branch    int64  // 0 if none
	About     string // aggregate and its id, or the scope in the admission cache
	Payload   json.RawMessage
	Reason    string // the last error
	CreatedAt time.Time
	DiedAt    time.Time
}

// DeadLetterCount is the number of dead letters of a consumer.
type DeadLetterCount struct {
	Consumer string `json:"consumer" doc:"relay for events that could not be published."`
	Letters  int64  `json:"letters"`
}

// PendingCount is the number of waiting events of one type.
type PendingCount struct {
	Type   string `json:"type"`
	Events int64  `json:"events"`
}

// Backlog is the number of rows in a table and the time they have waited. Ages are never negative, and zero without
// such rows. A count also grows with the traffic; an age grows only while a row is not delivered.
type Backlog struct {
	Pending int64
	Age     time.Duration // age of the oldest pending row
	Dead    int64
	DeadAge time.Duration // since the first dead letter died
}
