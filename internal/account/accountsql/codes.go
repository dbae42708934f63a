package accountsql

import (
	"context"
	"errors"
	"strconv"
	"time"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/document/documentsql"
	"comanda/internal/sqldb"
)

// Names of counters: codes sent and tried per address, attempts without a code, and failed logins of unknown accounts
// and of known devices. actionTryWithoutCode and actionUnknownAccount are never limited; they exist so that a refusal
// costs the same write (S2, S7).
const (
	actionSend           = "code_send"
	actionTry            = "code_try"
	actionTryWithoutCode = "code_try_none"
	actionUnknownAccount = "login_nobody"
	actionDevice         = "login_device"
)

// Send counts a code for its destination and stores it, unless the limit is reached.
func (s *Accounts) Send(ctx context.Context, c account.Code, l account.Email) (wait time.Duration, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		wait, err = countWithin(ctx, tx, actionSend, c.Destination, account.SendWindows, c.SentAt)
		if err != nil || wait > 0 || c.UserID == 0 {
			return err
		}
		putCode(tx, c)
		return QueueEmail(tx, c.SentAt, l)
	})
	return wait, err
}

// countWithin counts one event of a subject unless a window is full; then it returns how long to wait. Each event is a
// row, because windows slide; the windows bound the number of rows.
func countWithin(
	ctx context.Context, tx sqldb.Tx, action, subject string, windows []account.Window, now time.Time,
) (time.Duration, error) {
	// The lock makes concurrent requests for one address count one after the other.
	tx.Queue(stmt("cap_lock"), action, subject)
	buckets, err := sqldb.Collect(ctx, tx, sqldb.Pair, stmt("cap_list"), action, subject, now.Add(-24*time.Hour).UnixMilli())
	if err != nil {
		return 0, err
	}
	var times []time.Time
	for _, b := range buckets {
		for range b[1] {
			times = append(times, sqldb.Instant(b[0]))
		}
	}
	wait := account.RetryAfter(windows, times, now)
	if wait == 0 {
		tx.Queue(stmt("cap_add"), action, subject, now.UnixMilli())
	}
	return wait, nil
}

// putCode queues a code; it replaces the account's previous code for the purpose.
func putCode(tx sqldb.Tx, c account.Code) {
	tx.Queue(stmt("otp_put"), string(c.Purpose), c.UserID, c.Hash, c.SentAt.UnixMilli(), c.ExpiresAt.UnixMilli())
}

// Try counts an attempt, then compares.
func (s *Accounts) Try(
	ctx context.Context, given account.Code, now time.Time, matches func(hash string) bool,
) (ok bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The update locks the code's row, so concurrent attempts count one after the other.
		kept, found, err := sqldb.One(ctx, tx, sqldb.Value[string], stmt("otp_attempt"), string(given.Purpose), given.UserID,
			account.CodeAttempts, now.UnixMilli())
		if ok = false; err != nil { // reset: a retried transaction may have set it
			return err
		}
		if !found {
			return countMissingCode(ctx, tx, given.Destination, s.db.Now())
		}
		wait, err := countWithin(ctx, tx, actionTry, given.Destination, account.TryWindows, now)
		if err != nil || wait > 0 {
			return err
		}
		if err := tx.Flush(ctx); err != nil { // S6: both counts are written before the comparison
			return err
		}
		ok = matches(kept)
		return nil
	})
	return ok && err == nil, err
}

// countMissingCode does the same work as an attempt if there is no code: the response time must not reveal whether an
// account exists (S7). It takes no lock, because many guesses at a used code must not wait for connections.
func countMissingCode(ctx context.Context, tx sqldb.Tx, destination string, now time.Time) error {
	if _, err := sqldb.Collect(ctx, tx, sqldb.Pair, stmt("cap_list"), actionTryWithoutCode, destination,
		now.UnixMilli()); err != nil {
		return err
	}
	tx.Queue(stmt("cap_add"), actionTryWithoutCode, destination, now.UnixMilli())
	return tx.Flush(ctx)
}

// VerifyEmail uses a code up and activates its account.
func (s *Accounts) VerifyEmail(
	ctx context.Context, c account.Code, now time.Time, l account.Email,
) (used bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if used, err = consumeCode(ctx, tx, c, now); err != nil || !used {
			return err
		}
		// If the account is no longer pending, the code does not verify it.
		n, err := tx.Exec(ctx, stmt("account_verify"), c.UserID, now.UnixMilli())
		if used = n == 1; err != nil || !used {
			return err
		}
		documentsql.Changed(tx, now, userEntity, strconv.FormatInt(c.UserID, 10))
		tx.Queue(stmt("choice_locale"), c.UserID, l.Locale, now.UnixMilli())
		return QueueEmail(tx, now, l)
	})
	return used, err
}

// ChangeEmail uses a code up and replaces the address of its account.
func (s *Accounts) ChangeEmail(
	ctx context.Context, c account.Code, now time.Time, email string, by authz.Actor, notice account.Email,
) (used bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if used, err = consumeCode(ctx, tx, c, now); err != nil || !used {
			return err
		}
		u, err := oneUser(ctx, tx, stmt("account_select"), c.UserID)
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, stmt("account_email"), c.UserID, email, now.UnixMilli())
		if used = n == 1; err != nil || !used {
			return err
		}
		documentsql.Changed(tx, now, userEntity, strconv.FormatInt(c.UserID, 10))
		if notice.To != "" { // staff who log in by username may have had no address
			if err := QueueEmail(tx, now, notice); err != nil {
				return err
			}
		}
		if !authz.IsStaff(u.Role) {
			return nil
		}
		return auditsql.Record(ctx, tx, audit.NewEntry(by, now, audit.ActionUserUpdated, "user", strconv.FormatInt(u.ID, 10), 0).
			WithBefore(map[string]any{"email": u.Email}).WithAfter(map[string]any{"email": email}))
	})
	if errors.Is(err, sqldb.ErrUnique) { // registered by another account since the code was sent
		err = account.ErrEmailTaken
	}
	return used && err == nil, err
}

// ResetPassword uses a code up, sets a new password, removes all other credentials and ends all sessions.
func (s *Accounts) ResetPassword(
	ctx context.Context, c account.Code, now time.Time, passwordHash string, from account.Caller, notice account.Email,
) (used bool, ended []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if used, err = consumeCode(ctx, tx, c, now); err != nil || !used {
			return err
		}
		// Codes are locked before the account, in the order of Accounts.
		if _, err := tx.Exec(ctx, stmt("otp_cancel"), string(account.Move), c.UserID, now.UnixMilli()); err != nil {
			return err
		}
		u, err := LockUser(ctx, tx, c.UserID)
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, stmt("account_reset"), c.UserID, passwordHash, now.UnixMilli())
		if used = n == 1; err != nil || !used {
			return err
		}
		documentsql.Changed(tx, now, userEntity, strconv.FormatInt(c.UserID, 10))
		pins, err := tx.Exec(ctx, stmt("pin_delete"), c.UserID)
		if err != nil {
			return err
		}
		if ended, err = EndSessions(ctx, tx, c.UserID, account.EndPassword, "", now); err != nil {
			return err
		}
		if err := QueueEmail(tx, now, resetNotice(notice, u.GoogleID != "", pins > 0)); err != nil {
			return err
		}
		return recordReset(ctx, tx, u, from, now, pins > 0)
	})
	return used, ended, err
}

// resetNotice returns the e-mail about a reset with what was removed.
func resetNotice(l account.Email, google, pin bool) account.Email {
	if google {
		l = l.With(account.FieldGoogle, "1")
	}
	if pin {
		l = l.With(account.FieldPin, "1")
	}
	return l
}

// recordReset records a reset in the audit log: that of staff, and that Google was disconnected. u is the account before it.
func recordReset(ctx context.Context, tx sqldb.Tx, u account.User, from account.Caller, now time.Time, pin bool) error {
	by := u.Actor("")
	by.Request, by.Address = from.Request, from.Address
	if u.GoogleID != "" {
		if err := recordGoogle(ctx, tx, by, now, audit.ActionGoogleUnlinked, u.ID); err != nil {
			return err
		}
	}
	if !authz.IsStaff(u.Role) {
		return nil
	}
	e := audit.NewEntry(by, now, audit.ActionPassword, "user", strconv.FormatInt(u.ID, 10), 0)
	if err := auditsql.Record(ctx, tx, e); err != nil || !pin {
		return err
	}
	return recordPin(ctx, tx, by, now)
}

// consumeCode uses a code up. Of concurrent calls one returns true.
func consumeCode(ctx context.Context, tx sqldb.Tx, c account.Code, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, stmt("otp_use"), string(c.Purpose), c.UserID, c.Hash, now.UnixMilli())
	return n == 1, err
}

// recordPassword records a password change of a staff account in the audit log, made within a session. Members are not
// recorded.
func recordPassword(ctx context.Context, tx sqldb.Tx, actor authz.Actor, now time.Time) error {
	// The account is read here, because its stored role decides whether it is staff.
	u, err := oneUser(ctx, tx, stmt("account_select"), actor.UserID)
	if err != nil || !authz.IsStaff(u.Role) {
		return err
	}
	by := u.Actor(actor.Session)
	by.Request, by.Address = actor.Request, actor.Address
	return auditsql.Record(ctx, tx,
		audit.NewEntry(by, now, audit.ActionPassword, "user", strconv.FormatInt(u.ID, 10), 0))
}
