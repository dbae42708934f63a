package accountsql

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/document/documentsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// maxDeviceRaces is the number of times that a login is repeated because another account has logged in on the same
// device at the same time. After that the device stays with the other one, whose login is as new.
const maxDeviceRaces = 3

// Begin stores a session, see account.SessionStore.
func (s *Accounts) Begin(
	ctx context.Context, u account.User, fresh account.Session, p account.LoginProof,
) (written account.Session, evicted []string, err error) {
	for range maxDeviceRaces {
		if written, evicted, err = s.begin(ctx, u, fresh, p); p.DeviceID == "" || !errors.Is(err, sqldb.ErrUnique) {
			return written, evicted, err
		}
	}
	p.DeviceID = ""
	return s.begin(ctx, u, fresh, p)
}

// begin writes a session in one transaction with everything that a login changes, so that an evicted session ends exactly
// if the new one begins. It returns the ids of the evicted sessions, which the caller removes from the cache.
func (s *Accounts) begin(
	ctx context.Context, u account.User, fresh account.Session, p account.LoginProof,
) (written account.Session, evicted []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The login was verified outside of this transaction, so the locked account is compared with the proof again
		// (S5).
		now, err := LockUser(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		if now.PasswordHash != p.Hash || now.Status != account.Active || now.RoleID != u.RoleID ||
			!slices.Equal(now.Branches, u.Branches) || p.GoogleID != "" && now.GoogleID != p.GoogleID {
			return account.ErrLogin
		}
		written = fresh.StartedAfter(now.ValidFrom)
		if err := resetFailures(ctx, tx, u.ID, p); err != nil {
			return err
		}
		// MaxSessions-1 sessions stay, because the new session is inserted below.
		if evicted, err = sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("session_end_oldest"),
			u.ID, written.CreatedAt.UnixMilli(), string(account.EndEvicted), account.MaxSessions-1); err != nil {
			return err
		}
		revokeSessions(tx, evicted, written.CreatedAt)
		if err := notifyNewDevice(ctx, tx, written, p.NewDevice); err != nil {
			return err
		}
		if err := takeDevice(ctx, tx, now, p.DeviceID, written.CreatedAt); err != nil {
			return err
		}
		insertSession(tx, written)
		recordLogin(tx, written)
		if !authz.IsStaff(u.Role) { // logins of members are not audited
			return nil
		}
		by := u.Actor(written.ID)
		by.Request, by.Address = p.Request, p.Address
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, written.CreatedAt, audit.ActionLogin, "user", strconv.FormatInt(u.ID, 10), 0))
	})
	return written, evicted, err
}

// resetFailures resets the failure count of the password or the PIN, whichever was right. A login with Google proves
// neither.
func resetFailures(ctx context.Context, tx sqldb.Tx, user int64, p account.LoginProof) error {
	switch {
	case p.GoogleID != "":
	case p.PinHash == "":
		tx.QueueExactly(1, stmt("account_login"), user, p.NewHash)
	default:
		if n, err := tx.Exec(ctx, stmt("pin_failures_reset"), user, p.PinHash); err != nil || n == 0 {
			return cmp.Or(err, error(account.ErrPin)) // the PIN was changed meanwhile
		}
	}
	return nil
}

// notifyNewDevice queues an e-mail unless a session of the account is on such a device. A device whose session has
// ended is known by its cookie.
func notifyNewDevice(ctx context.Context, tx sqldb.Tx, s account.Session, l *account.Email) error {
	if l == nil {
		return nil
	}
	n, err := sqldb.Scalar[int64](ctx, tx, stmt("session_count_device"), s.UserID, s.Device)
	if err != nil || n > 0 {
		return err
	}
	return QueueEmail(tx, s.CreatedAt, *l)
}

// takeDevice makes a device that of the locked account of a member, and no longer that of another. Staff share devices.
func takeDevice(ctx context.Context, tx sqldb.Tx, u account.User, device string, at time.Time) error {
	if device == "" || device == u.DeviceID || authz.IsStaff(u.Role) {
		return nil
	}
	others, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("device_clear"), device, u.ID, at.UnixMilli())
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, stmt("device_set"), u.ID, device); err != nil {
		return err
	}
	for _, id := range others {
		documentsql.Changed(tx, at, userEntity, strconv.FormatInt(id, 10))
	}
	return nil
}

// recordLogin queues the time of an account's last login, and the projection of its document.
func recordLogin(tx sqldb.Tx, s account.Session) {
	tx.Queue(stmt("account_last_login"), s.UserID, s.CreatedAt.UnixMilli())
	documentsql.Changed(tx, s.CreatedAt, userEntity, strconv.FormatInt(s.UserID, 10))
}

// insertSession queues the insertion of a session.
func insertSession(tx sqldb.Tx, f account.Session) {
	tx.QueueExactly(1, stmt("session_insert"), f.ID, f.UserID, f.TokenHash, f.RotatedAt.UnixMilli(), f.Device, f.Address,
		f.CreatedAt.UnixMilli(), f.IdleUntil.UnixMilli(), f.ExpiresAt.UnixMilli())
}

// RecordFailure counts a wrong password. Failures of unknown accounts share one counter per day.
func (s *Accounts) RecordFailure(ctx context.Context, user int64, passwordHash string) error {
	// One row per day is used instead of one per name, because invented names must not fill the table.
	if user == 0 {
		_, err := s.db.Exec(ctx, stmt("cap_add"), actionUnknownAccount, "", s.db.Now().Truncate(24*time.Hour).UnixMilli())
		return err
	}
	_, err := s.db.Exec(ctx, stmt("account_fail"), user, passwordHash)
	return err
}

// RecordDeviceFailure counts a wrong password of a known device or of a session.
func (s *Accounts) RecordDeviceFailure(ctx context.Context, device string, now time.Time) error {
	_, err := s.db.Exec(ctx, stmt("cap_add"), actionDevice, device, now.UnixMilli())
	return err
}

// DeviceFailures returns the number of wrong passwords of a device or session since an instant.
func (s *Accounts) DeviceFailures(ctx context.Context, device string, since time.Time) (n int64, err error) {
	buckets, err := sqldb.Collect(ctx, s.db, sqldb.Pair, stmt("cap_list"), actionDevice, device, since.UnixMilli())
	for _, b := range buckets {
		n += b[1]
	}
	return n, err
}

// Rotate decides about a refresh token and applies the decision.
func (s *Accounts) Rotate(ctx context.Context, r account.Rotation) (o account.RotationResult, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// Only the session is locked. A concurrent transaction that disables the account waits for this lock and then
		// ends the session.
		held, found, err := lockByToken(ctx, tx, r.TokenHash)
		if err != nil || !found {
			o = account.RotationResult{Verdict: account.RefreshUnknown}
			return err
		}
		u, err := oneUser(ctx, tx, stmt("account_select"), held.UserID)
		if err != nil {
			return err
		}
		o = account.RotationResult{Verdict: held.JudgeRefresh(u, r.TokenHash, r.Now), User: u, Session: held}
		switch o.Verdict {
		case account.RefreshRotate:
			o.Session = held.Rotated(u, r.NextHash, r.Successor, r.Now)
			rotate(tx, o.Session)
		// Two clients have the token, and which one is the thief is unknown, so the session ends for both.
		case account.RefreshReuse:
			tx.Queue(stmt("session_end"), held.ID, u.ID, r.Now.UnixMilli(), string(account.EndReused))
			revokeSessions(tx, []string{held.ID}, r.Now)
		case account.RefreshUnknown, account.RefreshEnded, account.RefreshRepeat: // nothing to write
		}
		return nil
	})
	return o, err
}

// lockByToken locks the session of a refresh token. A concurrent request with the same token waits for the lock, then
// finds the token spent and returns the same successor.
func lockByToken(ctx context.Context, tx sqldb.Tx, tokenHash string) (account.Session, bool, error) {
	s, found, err := sqldb.One(ctx, tx, scanSession, stmt("session_by_token"), tokenHash)
	if err != nil || found {
		return s, found, err
	}
	id, found, err := sqldb.One(ctx, tx, sqldb.Value[string], stmt("spent_select"), tokenHash)
	if err != nil || !found {
		return s, false, err
	}
	return sqldb.One(ctx, tx, scanSession, stmt("session_lock"), id)
}

// rotate queues the new refresh token and keeps the hash of the spent one, by which a later reuse is detected.
func rotate(tx sqldb.Tx, s account.Session) {
	tx.QueueExactly(1, stmt("session_rotate"), s.ID, s.TokenHash, s.PreviousHash, s.Successor, s.RotatedAt.UnixMilli(),
		s.IdleUntil.UnixMilli())
	tx.Queue(stmt("spent_insert"), s.PreviousHash, s.ID, s.RotatedAt.UnixMilli())
}

// FindByToken returns the session of a refresh token, including a spent one.
func (s *Accounts) FindByToken(ctx context.Context, tokenHash string) (account.Session, bool, error) {
	return sqldb.One(ctx, s.db, scanSession, stmt("session_find"), tokenHash)
}

// Sessions returns the live sessions of an account.
func (s *Accounts) Sessions(ctx context.Context, user int64, now time.Time) ([]account.Session, error) {
	return sqldb.Collect(ctx, s.db, scanSession, stmt("session_list"), user, now.UnixMilli())
}

// End ends a session of an account.
func (s *Accounts) End(
	ctx context.Context, user int64, session string, why account.EndReason, now time.Time,
) (found bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The condition includes the account, so a user cannot end a session of another user.
		n, err := tx.Exec(ctx, stmt("session_end"), session, user, now.UnixMilli(), string(why))
		if found = n == 1; err != nil || !found {
			return err
		}
		revokeSessions(tx, []string{session}, now)
		return nil
	})
	return found, err
}

// ChangePassword sets a new password and ends all sessions except keep.
func (s *Accounts) ChangePassword(
	ctx context.Context, user int64, p account.LoginProof, keep string, now time.Time,
) (ended []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The statement compares p.Hash, the password that was verified before this transaction.
		n, err := tx.Exec(ctx, stmt("account_password"), user, p.Hash, p.NewHash, now.UnixMilli())
		if err != nil {
			return err
		}
		if n == 0 { // changed concurrently
			return account.ErrPassword
		}
		documentsql.Changed(tx, now, userEntity, strconv.FormatInt(user, 10))
		if ended, err = EndSessions(ctx, tx, user, account.EndPassword, keep, now); err != nil {
			return err
		}
		return recordPassword(ctx, tx, authz.Actor{UserID: user, Session: keep, Request: p.Request, Address: p.Address}, now)
	})
	return ended, err
}

// EndSessions ends all sessions of an account except keep, which may be empty, within a transaction that has locked the
// account, and queues the revocations that every process reads. It returns the ended sessions, for
// account.Authenticator.Revoke after the commit.
func EndSessions(
	ctx context.Context, tx sqldb.Tx, user int64, why account.EndReason, keep string, now time.Time,
) ([]string, error) {
	ended, err := sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("session_end_all"), user, now.UnixMilli(), string(why),
		keep)
	if err != nil {
		return nil, err
	}
	revokeSessions(tx, ended, now)
	return ended, nil
}

// EndReplaced ends the sessions of accounts whose rows the transaction is about to replace, where the new row has another
// role or may no longer log in, as administration does. Of each account in the argument, it reads the id, the role and the
// status.
func EndReplaced(ctx context.Context, tx sqldb.Tx, fresh []account.User, now time.Time) error {
	type loss struct {
		user int64
		why  account.EndReason
	}
	lost, err := sqldb.Collect(ctx, tx, func(r sqldb.Rows) (l loss, err error) {
		var disabled bool
		err = r.Scan(&l.user, sqldb.Bool(&disabled))
		if l.why = account.EndRole; disabled {
			l.why = account.EndDisabled
		}
		return l, err
	}, stmt("replaced_access"), sqldb.NewRowSet(len(fresh)).
		Int("id", func(i int) int64 { return fresh[i].ID }).
		Int("role", func(i int) int64 { return fresh[i].RoleID }).
		Text("status", func(i int) string { return string(fresh[i].Status) }))
	if err != nil || len(lost) == 0 {
		return err
	}
	tx.Queue(stmt("replaced_access_end"), sqldb.IDs(seq.Map(lost, func(l loss) int64 { return l.user })), now.UnixMilli())
	for _, l := range lost {
		// The revocation of the account covers sessions that are only in a cache.
		authzsql.QueueRevocations(tx, authz.Revocation{Kind: authz.RevokeUser, Subject: strconv.FormatInt(l.user, 10), At: now})
		if _, err := EndSessions(ctx, tx, l.user, l.why, "", now); err != nil {
			return err
		}
	}
	return nil
}

// revokeSessions queues revocations. A session ends once, so its id is also the id of its revocation.
func revokeSessions(tx sqldb.Tx, ids []string, now time.Time) {
	if len(ids) == 0 {
		return
	}
	authzsql.QueueRevocations(tx, seq.Map(ids, func(id string) authz.Revocation {
		return authz.Revocation{ID: id, Kind: authz.RevokeSession, Subject: id, At: now}
	})...)
}

// ActiveSession returns a live session of an active account.
func (s *Accounts) ActiveSession(ctx context.Context, session string, now time.Time) (account.ActiveSession, bool, error) {
	return sqldb.One(ctx, s.db, func(r sqldb.Rows) (account.ActiveSession, error) {
		st := account.ActiveSession{Session: session}
		var branches string
		err := r.Scan(&st.UserID, &st.RoleID, &st.Role, sqldb.Time(&st.StartedAt), sqldb.Time(&st.ExpiresAt), &st.Address,
			&branches)
		st.Branches = idList(branches)
		return st, err
	}, stmt("session_active"), session, now.UnixMilli())
}

// Revocations returns the revocations made since an instant.
func (s *Accounts) Revocations(ctx context.Context, since time.Time) ([]authz.Revocation, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Row(func(v *authz.Revocation) []any {
		return []any{&v.ID, &v.Kind, &v.Subject, sqldb.Time(&v.At)}
	}), stmt("revocation_list"), since.UnixMilli())
}

// SaveLastSeen updates the last activity of live sessions. It never moves one back.
func (s *Accounts) SaveLastSeen(ctx context.Context, all []account.LastSeen) error {
	// Rows are locked in the order of their ids, to avoid deadlocks.
	slices.SortFunc(all, func(a, b account.LastSeen) int { return strings.Compare(a.Session, b.Session) })
	_, err := s.db.Exec(ctx, stmt("session_seen"), sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].Session }).
		Int("at", func(i int) int64 { return all[i].At.UnixMilli() }).
		Int("idle", func(i int) int64 { return all[i].IdleUntil.UnixMilli() }))
	return err
}

// scanSession reads a session. A live session has no end, so EndedAt stays zero.
var scanSession = sqldb.Row(func(s *account.Session) []any {
	return []any{
		&s.ID, &s.UserID, &s.TokenHash, &s.PreviousHash, &s.Successor, sqldb.Time(&s.RotatedAt), &s.Device, &s.Address,
		sqldb.Time(&s.CreatedAt), sqldb.Time(&s.LastSeenAt), sqldb.Time(&s.IdleUntil), sqldb.Time(&s.ExpiresAt),
		sqldb.Time(&s.EndedAt),
	}
})
