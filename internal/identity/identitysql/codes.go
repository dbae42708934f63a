package identitysql

import (
	"context"
	"strconv"
	"time"

	"comanda/internal/document/documentsql"
	"comanda/internal/identity"
	"comanda/internal/sqldb"
)

// What is counted: for a destination, and logins that were tried for nobody. What is tried where there is no code counts
// against nobody.
const (
	actionSend    = "code_send"
	actionTry     = "code_try"
	actionTryNone = "code_try_none"
	actionNobody  = "login_nobody"
	actionDevice  = "login_device"
)

// Send counts a code for its destination and keeps it, unless that would be too often.
func (s *Accounts) Send(ctx context.Context, c identity.Code, l identity.Letter) (wait time.Duration, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		wait, err = count(ctx, tx, actionSend, c.Destination, identity.SendWindows, c.SentAt)
		if err != nil || wait > 0 || c.UserID == 0 {
			return err
		}
		putCode(tx, c)
		return QueueLetter(tx, c.SentAt, l)
	})
	return wait, err
}

// count adds one for a subject unless its windows are full; then it tells for how long. Each one is a row, so that
// windows slide; there are few, because they are bounded.
func count(
	ctx context.Context, tx sqldb.Tx, action, subject string, windows []identity.Window, now time.Time,
) (time.Duration, error) {
	tx.Queue(capLock, action, subject)
	rows, err := tx.Query(ctx, capList, action, subject, now.Add(-24*time.Hour).UnixMilli())
	buckets, err := sqldb.Collect(rows, err, sqldb.Pair)
	if err != nil {
		return 0, err
	}
	var times []time.Time
	for _, b := range buckets {
		for range b[1] {
			times = append(times, instant(b[0]))
		}
	}
	wait := identity.Full(windows, times, now)
	if wait == 0 {
		tx.Queue(capAdd, action, subject, now.UnixMilli())
	}
	return wait, nil
}

func putCode(tx sqldb.Tx, c identity.Code) {
	tx.Queue(otpPut, string(c.Purpose), c.UserID, c.Hash, c.SentAt.UnixMilli(), c.ExpiresAt.UnixMilli())
}

// Try counts an attempt, then compares.
func (s *Accounts) Try(
	ctx context.Context, given identity.Code, now time.Time, matches func(hash string) bool,
) (ok bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		rows, err := tx.Query(ctx, otpAttempt, string(given.Purpose), given.UserID, identity.CodeAttempts, now.UnixMilli())
		kept, found, err := sqldb.One(rows, err, sqldb.Value[string])
		if ok = false; err != nil {
			return err
		}
		if !found {
			return tryNone(ctx, tx, given.Destination, s.db.Now())
		}
		wait, err := count(ctx, tx, actionTry, given.Destination, identity.TryWindows, now)
		if err != nil || wait > 0 {
			return err
		}
		if err := tx.Flush(ctx); err != nil { // both counts stand before anything is compared
			return err
		}
		ok = matches(kept)
		return nil
	})
	return ok && err == nil, err
}

// tryNone does what is done with an attempt, where there is no code to be tried: the time must not tell whether there is
// an account (S7). It waits for nobody: guesses at a code that is burnt must not stand in line for connections.
func tryNone(ctx context.Context, tx sqldb.Tx, destination string, now time.Time) error {
	rows, err := tx.Query(ctx, capList, actionTryNone, destination, now.UnixMilli())
	if _, err = sqldb.Collect(rows, err, sqldb.Pair); err != nil {
		return err
	}
	tx.Queue(capAdd, actionTryNone, destination, now.UnixMilli())
	return tx.Flush(ctx)
}

// Prove uses a code up and makes its account active.
func (s *Accounts) Prove(
	ctx context.Context, c identity.Code, now time.Time, l identity.Letter,
) (used bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if used, err = use(ctx, tx, c, now); err != nil || !used {
			return err
		}
		n, err := tx.Exec(ctx, accountProve, c.UserID, now.UnixMilli())
		if used = n == 1; err != nil || !used {
			return err
		}
		documentsql.Changed(tx, now, userEntity, strconv.FormatInt(c.UserID, 10))
		return QueueLetter(tx, now, l)
	})
	return used, err
}

// Replace uses a code up, sets a new password and ends all sessions.
func (s *Accounts) Replace(
	ctx context.Context, c identity.Code, now time.Time, passwordHash string, from identity.Caller,
) (used bool, ended []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if used, err = use(ctx, tx, c, now); err != nil || !used {
			return err
		}
		n, err := tx.Exec(ctx, accountReset, c.UserID, passwordHash, now.UnixMilli())
		if used = n == 1; err != nil || !used {
			return err
		}
		documentsql.Changed(tx, now, userEntity, strconv.FormatInt(c.UserID, 10))
		if ended, err = EndSessions(ctx, tx, c.UserID, identity.EndPassword, "", now); err != nil {
			return err
		}
		return recordPassword(ctx, tx, identity.Actor{UserID: c.UserID, Request: from.Request, Address: from.Address}, now)
	})
	return used, ended, err
}

// use takes a code; of those who do so at the same time one gets it.
func use(ctx context.Context, tx sqldb.Tx, c identity.Code, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, otpUse, string(c.Purpose), c.UserID, c.Hash, now.UnixMilli())
	return n == 1, err
}

// recordPassword writes into the audit log that a member of the staff has another password, set within a session or, by
// a code, without one.
func recordPassword(ctx context.Context, tx sqldb.Tx, who identity.Actor, now time.Time) error {
	u, err := oneUser(ctx, tx, accountSelect, who.UserID)
	if err != nil || !identity.IsStaff(u.Role) {
		return err
	}
	by := u.Actor(who.Session)
	by.Request, by.Address = who.Request, who.Address
	return Record(ctx, tx, by.Did(now, identity.ActionPassword, "user", strconv.FormatInt(u.ID, 10), 0))
}
