package system

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accountsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/document"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var importStmts = sqldb.Load(fstest.MapFS{
	"living.sql": {Data: []byte(`SELECT COUNT(*) FROM auth_session WHERE user_id = $1 AND ended_at IS NULL`)},
	"why.sql":    {Data: []byte(`SELECT MAX(end_reason) FROM auth_session WHERE user_id = $1`)},
	"revoked.sql": {Data: []byte(`SELECT COUNT(*) FROM auth_revocation
		WHERE kind = 'USER' AND subject = CAST(CAST($1 AS BIGINT) AS TEXT)`)},
})

// importEnv is a database with the built-in roles and a member.
type importEnv struct {
	*Service

	roles  map[string]authz.Role
	member account.User
}

func newImportEnv(t *testing.T, db *sqldb.DB) *importEnv {
	t.Helper()
	testenv.NoError(t, authzsql.SyncPermissions(t.Context(), db, nil, db.Now()))
	e := &importEnv{Service: NewService(Config{DB: db}), roles: map[string]authz.Role{}}
	for _, r := range testenv.Must(authzsql.NewRoles(db).Roles(t.Context()))(t) {
		e.roles[r.Name] = r
	}
	testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) (err error) {
		e.member, err = accountsql.InsertUser(ctx, tx, account.User{
			Profile: account.Profile{Email: "lan@example.com"}, Role: authz.RoleUser, Status: account.Active, CreatedAt: db.Now(),
		})
		return err
	}))
	return e
}

// login begins a session of the member.
func (e *importEnv) login(t *testing.T, id string) account.Session {
	t.Helper()
	u := testenv.Must(accountsql.NewAccounts(e.DB).User(t.Context(), e.member.ID))(t)
	now := e.DB.Now()
	s, _ := testenv.Must2(accountsql.NewAccounts(e.DB).Begin(t.Context(), u, account.Session{
		ID: id, UserID: u.ID, TokenHash: id, RotatedAt: now, CreatedAt: now, IdleUntil: now.Add(time.Hour),
		ExpiresAt: now.Add(time.Hour),
	}, account.LoginProof{Hash: u.PasswordHash}))(t)
	return s
}

// line returns the line of an account with a role, a status and further fields of JSON.
func (e *importEnv) line(id int64, role string, status account.Status, fields string) string {
	return fmt.Sprintf(`{"entity":"user","id":"%d","document":{"id":"%[1]d","roleId":"%d","accountStatus":"%s",`+
		`"createdAt":null,"updatedAt":null,"version":1%s}}`+"\n", id, e.roles[role].ID, status, fields)
}

func (e *importEnv) run(t *testing.T, lines string) error {
	t.Helper()
	_, err := e.Import(t.Context(), strings.NewReader(lines), document.Replace, false)
	return err
}

func (e *importEnv) count(t *testing.T, name string) int64 {
	t.Helper()
	return testenv.Must(sqldb.Scalar[int64](t.Context(), e.DB, importStmts.Must(name), e.member.ID))(t)
}

// An import that takes the login or the role of an account ends its sessions, as administration does. Every other import
// leaves them.
func TestImport_ends_sessions(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := newImportEnv(t, db)
		for i, c := range []struct {
			role   string
			status account.Status
			ends   account.EndReason
		}{
			{authz.RoleUser, account.Active, ""},
			{authz.RoleUser, account.Disabled, account.EndDisabled},
			{authz.RoleManager, account.Active, account.EndRole},
			{authz.RoleManager, account.Pending, account.EndDisabled},
		} {
			id := e.member.ID
			testenv.NoError(t, e.run(t, e.line(id, c.role, account.Active, "")))
			s, before := e.login(t, fmt.Sprint("session", i)), e.count(t, "revoked")
			other := e.line(id+1, authz.RoleUser, account.Disabled, "")
			testenv.NoError(t, e.run(t, e.line(id, c.role, c.status, "")+other))
			if c.ends == account.EndRole { // the role changes while the session lives
				testenv.NoError(t, e.run(t, e.line(id, authz.RoleUser, c.status, "")))
			}
			ended := c.ends != ""
			if living := e.count(t, "living"); (living == 0) != ended {
				t.Errorf("%v: %d sessions live", c, living)
			}
			if revoked := e.count(t, "revoked") - before; (revoked == 1) != ended {
				t.Errorf("%v: %d revocations", c, revoked)
			}
			_, active, err := accountsql.NewAccounts(db).ActiveSession(t.Context(), s.ID, db.Now())
			if err != nil || active == ended {
				t.Errorf("%v: the session is active: %t, %v", c, active, err)
			}
		}
	})
}

// Imported accounts obey the rules of the routes; an invalid one is named by its line, and nothing changes.
func TestImport_validates_accounts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := newImportEnv(t, db)
		for field, c := range map[string]struct{ value, detail string }{
			"email":       {"not an address", "This is not a valid e-mail address."},
			"username":    {"an@home", "A username has 3 to 32 characters"},
			"phone":       {"call me", "A phone number is + and 7 to 15 digits"},
			"deviceId":    {strings.Repeat("x", 129), "A device id has up to 128"},
			"firstName":   {strings.Repeat("x", 101), "firstName must be one line of at most 100"},
			"geolocation": {"here", "geolocation must be latitude,longitude"},
		} {
			value := string(testenv.Must(json.Marshal(c.value))(t))
			err := e.run(t, e.line(90, authz.RoleUser, account.Active, "")+
				e.line(91, authz.RoleUser, account.Active, `,"`+field+`":`+value))
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Code != "import_invalid" || !strings.HasPrefix(f.Detail, "Line 2: "+c.detail) {
				t.Errorf("%s: error %v, want line 2: %s", field, err, c.detail)
			}
		}
		if n := testenv.Must(e.Export(t.Context(), []*document.Entity{document.User}, io.Discard, nil))(t); n != 1 {
			t.Errorf("%d accounts after refused imports, want 1", n)
		}
		// Another spelling of a taken value is taken.
		err := e.run(t, e.line(90, authz.RoleUser, account.Active, `,"phone":"+84 (90) 123-4567","email":" An@Example.com "`)+
			e.line(91, authz.RoleUser, account.Active, `,"phone":"+84901234567"`))
		if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.Detail, "the phone is that of line 1 too") {
			t.Errorf("two spellings of a number: %v", err)
		}
		testenv.NoError(t, e.run(t, e.line(90, authz.RoleUser, account.Active, `,"phone":"+84 (90) 123-4567","email":" An@Example.com "`)))
		u, found, err := accountsql.NewAccounts(db).Find(t.Context(), "an@example.com", "")
		if err != nil || !found || u.Phone != "+84901234567" {
			t.Errorf("imported %+v, %v", u, err)
		}
	})
}

// An import that replaces accounts leaves an active owner, as administration does. A refused one changes nothing.
func TestImport_keeps_an_owner(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := newImportEnv(t, db)
		active, user := account.Active, authz.RoleUser
		line := func(id int64, role string, status account.Status) string { return e.line(id, role, status, "") }
		hasOwner := func() bool { return testenv.Must(accountsql.NewUserAdmin(db).HasOwner(t.Context()))(t) }
		a, b := e.member.ID, e.member.ID+1
		// Without an owner, accounts without one may come.
		testenv.NoError(t, e.run(t, line(a, user, active)+line(b, user, active)),
			e.run(t, line(a, authz.RoleOwner, active)+line(b, authz.RoleOwner, active)),
			e.run(t, line(b, authz.RoleOwner, account.Disabled)))
		for name, lines := range map[string]string{
			"the role":             line(b+1, user, active) + line(a, authz.RoleManager, active),
			"the login":            line(b+1, user, active) + line(a, authz.RoleOwner, account.Disabled),
			"before another loses": line(b+1, user, active) + line(a, user, active) + line(b, user, active),
		} {
			for _, check := range []bool{true, false} {
				_, err := e.Import(t.Context(), strings.NewReader(lines), document.Replace, check)
				if f, ok := errors.AsType[*fault.Error](err); !ok || !errors.Is(err, authz.ErrLastOwner) || !strings.HasPrefix(f.Detail, "Line 2: At least") {
					t.Errorf("%s of the last owner, check %t: %v, want last_owner of line 2", name, check, err)
				}
			}
		}
		if n := testenv.Must(e.Export(t.Context(), []*document.Entity{document.User}, io.Discard, nil))(t); n != 2 || !hasOwner() {
			t.Errorf("%d accounts after refused imports, want 2 with the owner", n)
		}
		renamed := fmt.Sprintf(`{"entity":"role","id":"%d","document":{"id":"%[1]d","name":"Boss","createdAt":null,"updatedAt":null,`+
			`"version":1}}`, e.roles[authz.RoleOwner].ID)
		if f, ok := errors.AsType[*fault.Error](e.run(t, renamed)); !ok || f.Detail != "Line 1: a built-in role cannot be renamed." {
			t.Errorf("the role of owners is renamed: %v", f)
		}
		// Existing accounts that are skipped keep their role.
		_, err := e.Import(t.Context(), strings.NewReader(line(a, user, active)), document.Skip, false)
		// A new owner may follow the line of the last one.
		testenv.NoError(t, err, e.run(t, line(a, user, active)+line(b, authz.RoleOwner, active)))
		if !hasOwner() {
			t.Error("the file's owner is none")
		}
	})
}

// If administration disables the other owner between the check of a file and its first write, the import is refused.
func TestImport_keeps_an_owner_of_a_concurrent_change(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := newImportEnv(t, db)
		a, b := e.member.ID, e.member.ID+1
		both := e.line(a, authz.RoleOwner, account.Active, "") + e.line(b, authz.RoleOwner, account.Active, "")
		testenv.NoError(t, e.run(t, both))
		from := &interruptedFile{Reader: strings.NewReader(e.line(a, authz.RoleUser, account.Active, "")), happens: func() {
			testenv.NoError(t, e.run(t, e.line(b, authz.RoleOwner, account.Disabled, "")))
		}}
		if _, err := e.Import(t.Context(), from, document.Replace, false); !errors.Is(err, authz.ErrLastOwner) {
			t.Errorf("error %v, want last_owner", err)
		}
	})
}

// interruptedFile calls a function before it is read for the second time.
type interruptedFile struct {
	*strings.Reader

	happens func()
}

func (f *interruptedFile) Seek(offset int64, whence int) (int64, error) {
	f.happens()
	return f.Reader.Seek(offset, whence)
}
