package system

import (
	"context"
	"errors"
	"slices"

	"comanda/internal/account"
	"comanda/internal/account/accountsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/document"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
)

// ownerRule refuses an import that replaces accounts and leaves no active owner. It needs the whole file: another line may
// make another account an owner.
type ownerRule struct {
	roles  []authz.Role  // before the import
	made   bool          // a line has an active owner
	losing map[int64]int // line of each account that is no active owner
}

// read reads a line. It returns an error if the line renames a built-in role, because the rules refer to these by name.
func (o *ownerRule) read(e *document.Entity, r document.Record) error {
	if e != document.Role && e != document.User {
		return nil
	}
	id, field := r.Number(e, "id"), "id"
	if e == document.User {
		field = "roleId"
	}
	at := slices.IndexFunc(o.roles, func(x authz.Role) bool { return x.ID == r.Number(e, field) })
	switch {
	case e == document.Role:
		if at >= 0 && authz.IsDelivered(o.roles[at].Name) && o.roles[at].Name != r.Text(e, "name") {
			return errors.New("a built-in role cannot be renamed")
		}
	case at >= 0 && o.roles[at].Name == authz.RoleOwner && account.Status(r.Text(e, "accountStatus")) == account.Active:
		o.made = true
	default:
		o.losing[id] = r.Line()
	}
	return nil
}

// check returns authz.ErrLastOwner with the line that takes the last active owner.
func (o *ownerRule) check(ctx context.Context, conn sqldb.Reader) error {
	if o.made || len(o.losing) == 0 {
		return nil
	}
	line := 0
	err := accountsql.KeepOwner(ctx, conn, func(id int64) bool {
		line = max(line, o.losing[id])
		return o.losing[id] > 0
	})
	if errors.Is(err, authz.ErrLastOwner) {
		return fault.Newf(fault.Conflict, authz.ErrLastOwner.Code, "Line %d: %s", line, authz.ErrLastOwner.Detail)
	}
	return err
}

// checkLocked is check in the transaction that writes accounts. Its lock keeps administration from disabling an owner on
// whom the check relied.
func (o *ownerRule) checkLocked(ctx context.Context, tx sqldb.Tx) error {
	if len(o.roles) == 0 || o.made || len(o.losing) == 0 {
		return nil // on a database without roles there is nothing to lock
	}
	if err := authzsql.LockRoles(ctx, tx); err != nil {
		return err
	}
	return o.check(ctx, tx)
}
