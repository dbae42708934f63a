package identitysql

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"comanda/internal/document/documentsql"
	"comanda/internal/identity"
	"comanda/internal/sqldb"
)

// Begin begins a session.
func (s *Accounts) Begin(
	ctx context.Context, u identity.User, fresh identity.Session, p identity.Proof,
) (written identity.Session, evicted []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		now, err := LockUser(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		if now.PasswordHash != p.Hash || now.Status != identity.Active || now.RoleID != u.RoleID {
			return identity.ErrLogin
		}
		written = fresh.After(now.ValidFrom)
		if p.PinHash == "" {
			tx.QueueExactly(1, accountLogin, u.ID, p.NewHash)
		} else if n, err := tx.Exec(ctx, pinForget, u.ID, p.PinHash); err != nil || n == 0 {
			return cmp.Or(err, error(identity.ErrPin)) // it was changed meanwhile
		}
		rows, err := tx.Query(ctx, sessionEndOldest,
			u.ID, written.CreatedAt.UnixMilli(), string(identity.EndEvicted), identity.MaxSessions-1)
		if evicted, err = sqldb.Collect(rows, err, sqldb.Value[string]); err != nil {
			return err
		}
		revokeSessions(tx, evicted, written.CreatedAt)
		insertSession(tx, written)
		if !identity.IsStaff(u.Role) {
			return nil
		}
		by := u.Actor(written.ID)
		by.Request, by.Address = p.Request, p.Address
		return Record(ctx, tx, by.Did(written.CreatedAt, identity.ActionLogin, "user", strconv.FormatInt(u.ID, 10), 0))
	})
	return written, evicted, err
}

func insertSession(tx sqldb.Tx, f identity.Session) {
	tx.QueueExactly(1, sessionInsert, f.ID, f.UserID, f.TokenHash, f.RotatedAt.UnixMilli(), f.Device, f.Address,
		f.CreatedAt.UnixMilli(), f.IdleUntil.UnixMilli(), f.ExpiresAt.UnixMilli())
}

// Fail counts a wrong password; nobody's are counted by the day.
func (s *Accounts) Fail(ctx context.Context, user int64, passwordHash string) error {
	if user == 0 {
		_, err := s.db.Exec(ctx, capAdd, actionNobody, "", s.db.Now().Truncate(24*time.Hour).UnixMilli())
		return err
	}
	_, err := s.db.Exec(ctx, accountFail, user, passwordHash)
	return err
}

// FailDevice counts a wrong password of a known device or of a session.
func (s *Accounts) FailDevice(ctx context.Context, device string, now time.Time) error {
	_, err := s.db.Exec(ctx, capAdd, actionDevice, device, now.UnixMilli())
	return err
}

// DeviceFailures returns how many wrong passwords of a device were counted since an instant.
func (s *Accounts) DeviceFailures(ctx context.Context, device string, since time.Time) (n int64, err error) {
	rows, err := s.db.Query(ctx, capList, actionDevice, device, since.UnixMilli())
	buckets, err := sqldb.Collect(rows, err, sqldb.Pair)
	for _, b := range buckets {
		n += b[1]
	}
	return n, err
}

// Rotate judges a refresh token and does what follows from it.
func (s *Accounts) Rotate(ctx context.Context, r identity.Rotation) (o identity.Outcome, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		held, found, err := held(ctx, tx, r.TokenHash)
		if err != nil || !found {
			o = identity.Outcome{Verdict: identity.Unknown}
			return err
		}
		u, err := oneUser(ctx, tx, accountSelect, held.UserID)
		if err != nil {
			return err
		}
		o = identity.Outcome{Verdict: held.Judge(u, r.TokenHash, r.Now), User: u, Session: held}
		switch o.Verdict {
		case identity.Rotate:
			o.Session = held.Rotated(u, r.NextHash, r.Sealed, r.Now)
			rotate(tx, o.Session)
		case identity.Reuse:
			tx.Queue(sessionEnd, held.ID, u.ID, r.Now.UnixMilli(), string(identity.EndReused))
			revokeSessions(tx, []string{held.ID}, r.Now)
		case identity.Unknown, identity.Over, identity.Repeat:
		}
		return nil
	})
	return o, err
}

// held locks the session of a refresh token. Whoever comes while somebody else spends the token waits for the lock,
// finds it spent then, and is told the same successor.
func held(ctx context.Context, tx sqldb.Tx, tokenHash string) (identity.Session, bool, error) {
	rows, err := tx.Query(ctx, sessionByToken, tokenHash)
	s, found, err := sqldb.One(rows, err, scanSession)
	if err != nil || found {
		return s, found, err
	}
	rows, err = tx.Query(ctx, spentSelect, tokenHash)
	id, found, err := sqldb.One(rows, err, sqldb.Value[string])
	if err != nil || !found {
		return s, false, err
	}
	rows, err = tx.Query(ctx, sessionLock, id)
	return sqldb.One(rows, err, scanSession)
}

func rotate(tx sqldb.Tx, s identity.Session) {
	tx.QueueExactly(1, sessionRotate, s.ID, s.TokenHash, s.PreviousHash, s.Successor, s.RotatedAt.UnixMilli(),
		s.IdleUntil.UnixMilli())
	tx.Queue(spentInsert, s.PreviousHash, s.ID, s.RotatedAt.UnixMilli())
}

// Holder gives the session that a refresh token belongs to.
func (s *Accounts) Holder(ctx context.Context, tokenHash string) (identity.Session, bool, error) {
	rows, err := s.db.Query(ctx, sessionHolder, tokenHash)
	return sqldb.One(rows, err, scanSession)
}

// Sessions gives the living sessions of an account.
func (s *Accounts) Sessions(ctx context.Context, user int64, now time.Time) ([]identity.Session, error) {
	rows, err := s.db.Query(ctx, sessionList, user, now.UnixMilli())
	return sqldb.Collect(rows, err, scanSession)
}

// End ends a session of an account.
func (s *Accounts) End(
	ctx context.Context, user int64, session string, why identity.EndReason, now time.Time,
) (found bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		n, err := tx.Exec(ctx, sessionEnd, session, user, now.UnixMilli(), string(why))
		if found = n == 1; err != nil || !found {
			return err
		}
		revokeSessions(tx, []string{session}, now)
		return nil
	})
	return found, err
}

// Repassword sets a new password and ends all sessions but one.
func (s *Accounts) Repassword(
	ctx context.Context, user int64, p identity.Proof, keep string, now time.Time,
) (ended []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		n, err := tx.Exec(ctx, accountPassword, user, p.Hash, p.NewHash, now.UnixMilli())
		if err != nil {
			return err
		}
		if n == 0 { // changed by somebody else meanwhile
			return identity.ErrPassword
		}
		documentsql.Changed(tx, now, userEntity, strconv.FormatInt(user, 10))
		if ended, err = EndSessions(ctx, tx, user, identity.EndPassword, keep, now); err != nil {
			return err
		}
		return recordPassword(ctx, tx, identity.Actor{UserID: user, Session: keep, Request: p.Request, Address: p.Address}, now)
	})
	return ended, err
}

// EndSessions ends all sessions of an account but one within a transaction that has locked the account, and writes the
// revocations by which every process hears of it. keep is empty to end all. It gives what was ended, for
// identity.Guard.Revoke after the commit.
func EndSessions(
	ctx context.Context, tx sqldb.Tx, user int64, why identity.EndReason, keep string, now time.Time,
) ([]string, error) {
	rows, err := tx.Query(ctx, sessionEndAll, user, now.UnixMilli(), string(why), keep)
	ended, err := sqldb.Collect(rows, err, sqldb.Value[string])
	if err != nil {
		return nil, err
	}
	revokeSessions(tx, ended, now)
	return ended, nil
}

// revokeSessions writes revocations. A session ends once, so its id names its revocation.
func revokeSessions(tx sqldb.Tx, ids []string, now time.Time) {
	if len(ids) == 0 {
		return
	}
	id := func(i int) string { return ids[i] }
	tx.Queue(revocationInsert, sqldb.NewRowSet(len(ids)).Text("id", id).Text("subject", id),
		string(identity.RevokeSession), now.UnixMilli())
}

// Standing gives a session that lives and whose account may be used.
func (s *Accounts) Standing(ctx context.Context, session string, now time.Time) (identity.Standing, bool, error) {
	rows, err := s.db.Query(ctx, sessionStanding, session, now.UnixMilli())
	return sqldb.One(rows, err, func(r sqldb.Rows) (identity.Standing, error) {
		st := identity.Standing{Session: session}
		var begun, expires int64
		var branches string
		err := r.Scan(&st.UserID, &st.RoleID, &st.Role, &begun, &expires, &st.Address, &branches)
		st.BegunAt, st.ExpiresAt, st.Branches = instant(begun), instant(expires), idList(branches)
		return st, err
	})
}

// Revocations gives those that were made since an instant.
func (s *Accounts) Revocations(ctx context.Context, since time.Time) ([]identity.Revocation, error) {
	rows, err := s.db.Query(ctx, revocationList, since.UnixMilli())
	return sqldb.Collect(rows, err, func(r sqldb.Rows) (v identity.Revocation, err error) {
		var at int64
		err = r.Scan(&v.ID, &v.Kind, &v.Subject, &at)
		v.At = instant(at)
		return v, err
	})
}

// Seen moves the signs of life of sessions that still live; it never moves one back.
func (s *Accounts) Seen(ctx context.Context, all []identity.Sighting) error {
	slices.SortFunc(all, func(a, b identity.Sighting) int { // rows are locked in one order
		if a.Session < b.Session {
			return -1
		}
		return 1
	})
	_, err := s.db.Exec(ctx, sessionSeen, sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].Session }).
		Int("at", func(i int) int64 { return all[i].At.UnixMilli() }).
		Int("idle", func(i int) int64 { return all[i].IdleUntil.UnixMilli() }))
	return err
}

func scanSession(r sqldb.Rows) (s identity.Session, err error) {
	var rotated, created, seen, idle, expires int64
	var ended *int64
	err = r.Scan(&s.ID, &s.UserID, &s.TokenHash, &s.PreviousHash, &s.Successor, &rotated, &s.Device, &s.Address, &created,
		&seen, &idle, &expires, &ended)
	s.RotatedAt, s.CreatedAt, s.LastSeenAt = instant(rotated), instant(created), instant(seen)
	s.IdleUntil, s.ExpiresAt = instant(idle), instant(expires)
	if ended != nil {
		s.EndedAt = instant(*ended)
	}
	return s, err
}
