package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"comanda/internal/fault"
)

// Errors of a statement, the same on both engines. Callers compare them with errors.Is and map them to faults of their
// own: ErrUnique to a taken name, for example. Write handles ErrRetry and returns it only after the last attempt. After
// ErrAffected the transaction is rolled back.
var (
	ErrUnique     = errors.New("sqldb: a unique value exists already")
	ErrForeignKey = errors.New("sqldb: the row that is referred to does not exist")
	ErrCheck      = errors.New("sqldb: a check constraint refused the value")
	ErrRetry      = errors.New("sqldb: the transaction must be run again")
	ErrAffected   = errors.New("sqldb: another number of rows was changed than the caller knows to be there")
	ErrSchema     = errors.New("the database has no schema, or an older one: start comanda serve, or run comanda migrate up")
)

// ErrUnavailable means that the database cannot be reached or cannot answer now. It is a fault.Error, so that the API
// answers 503 with Retry-After.
var ErrUnavailable = &fault.Error{
	Kind: fault.Unavailable, Code: "unavailable", Detail: "The database is unavailable. Nothing was lost; please try again.",
	RetryAfter: unavailableRetry,
}

// translate wraps a driver's error in one of this package's errors. Every error of a driver passes through it.
func translate(name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		err = connectError{err}
	}
	if neutral := classify(err); neutral != nil {
		return fmt.Errorf("sqldb: %s: %w: %w", name, neutral, err)
	}
	return fmt.Errorf("sqldb: %s: %w", name, err)
}

// connectError is a pgconn.ConnectError whose text has one line and each reason once. The driver tries each address with and
// without TLS, and has one line for each attempt.
type connectError struct{ error }

func (e connectError) Error() string {
	var lines []string
	for line := range strings.Lines(e.error.Error()) {
		line = strings.TrimSpace(line)
		// The second attempt may name the reason without the words before it.
		if !slices.ContainsFunc(lines, func(earlier string) bool { return strings.HasSuffix(earlier, line) }) {
			lines = append(lines, line)
		}
	}
	// The first line is the beginning of the sentence; with one attempt it has the reason, too.
	return strings.TrimSpace(lines[0] + " " + strings.Join(lines[1:], "; "))
}

// Unwrap returns the error of the driver.
func (e connectError) Unwrap() error { return e.error }

// classify returns the error of this package for a driver's error, or nil if there is none. If the caller's
// context was cancelled, the database has not failed. If its deadline passed, the database did not answer in
// time.
func classify(err error) error {
	var connect *pgconn.ConnectError
	connecting := errors.As(err, &connect)
	// Without a connection the code does not matter: a database that does not exist, a password that was changed.
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && !connecting {
		return classifyPostgres(pg.Code)
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return classifySQLite(lite)
	}
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return nil
	case connecting, errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.Is(err, net.ErrClosed),
		errors.Is(err, context.DeadlineExceeded), pgconn.SafeToRetry(err):
		return ErrUnavailable
	}
	return nil
}

// classifyPostgres maps SQLSTATE codes, PostgreSQL manual appendix A. Codes of class 08 are lost connections; 25P03
// ends a transaction that was idle too long, 25P04 a transaction that took too long in total. These errors may be
// temporary, so the API answers 503 and clients repeat the request.
func classifyPostgres(code string) error {
	switch code {
	case "23505":
		return ErrUnique
	case "23503":
		return ErrForeignKey
	case "23514":
		return ErrCheck
	case "40001", "40P01":
		return ErrRetry
	case "42P01", "42703":
		return ErrSchema // undefined table, undefined column
	case "55P03", "57014", "57P01", "57P02", "57P03", "53300", "53100", "53200", "25P03", "25P04":
		return ErrUnavailable // time-out of a lock, statement or transaction, shutdown, too many clients, disk or memory full
	}
	if len(code) == 5 && code[:2] == "08" {
		return ErrUnavailable
	}
	return nil
}

// readOnly reports whether SQLite may not write to a file or its folder.
func readOnly(err error) bool {
	lite, ok := errors.AsType[*sqlite.Error](err)
	return ok && lite.Code()&0xff == sqlite3.SQLITE_READONLY
}

// classifySQLite maps result codes, https://sqlite.org/rescode.html. Constraint errors are distinguished by the
// extended code, all others by the primary code in the low byte. SQLITE_BUSY is returned only after busy_timeout, so
// a retry would wait as long again: it is ErrUnavailable, not ErrRetry.
func classifySQLite(err *sqlite.Error) error {
	switch err.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return ErrUnique
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return ErrForeignKey
	case sqlite3.SQLITE_CONSTRAINT_CHECK:
		return ErrCheck
	case sqlite3.SQLITE_ERROR: // a generic code; only the text distinguishes its causes
		if text := err.Error(); strings.Contains(text, "no such table") || strings.Contains(text, "no such column") {
			return ErrSchema
		}
	}
	switch err.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_INTERRUPT:
		return ErrUnavailable
	}
	return nil
}
