package documentredis

import (
	"strconv"
	"testing"

	"comanda/internal/document"
	"comanda/internal/document/documenttest"
	"comanda/internal/testenv"
)

// A process reads a row and writes its document late, after the row was deleted and the deletion projected. Redis has
// only an early version, so the version of the deletion must show that the late write is older.
func TestProjector_deletion_overtakes(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		ctx := t.Context()
		testenv.NoError(t, r.data.PutRole(ctx, 1, "USER"))
		user := documenttest.User{ID: 7, Role: 1}
		testenv.NoError(t, r.data.PutUser(ctx, user))
		r.project(t) // the memo is at version 1
		for n := range 3 {
			user.Username = "an" + strconv.Itoa(n)
			testenv.NoError(t, r.data.PutUser(ctx, user))
		}
		late := testenv.Must(r.sql.Read(ctx, document.User, []string{"7"}))(t)
		testenv.NoError(t, r.data.DeleteUser(ctx, 7))
		r.project(t)
		a := testenv.Must(r.store.Apply(ctx, late))(t)
		if len(a.Dropped) != 1 || late[0].Version != 4 {
			t.Errorf("version %d was written after the deletion: %+v", late[0].Version, a)
		}
		r.wantClean(t)
	})
}

// A cart line whose total would overflow is projected, and so are the other changes of its transaction.
func TestProjector_total_too_large(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		ctx := t.Context()
		testenv.NoError(t, r.data.PutRole(ctx, 1, "USER"), r.data.PutUser(ctx, documenttest.User{ID: 7, Role: 1}),
			r.data.PutCategory(ctx, 1, "A"), r.data.PutDish(ctx, 5, 1, "B"), r.data.PutCart(ctx, 4, 7),
			r.data.PutDetail(ctx, 8, 4, 5, 1<<31))
		testenv.Must(r.db.Exec(ctx, documenttest.Statement("UPDATE cart_detail SET price = 9007199254740992")))(t)
		r.project(t)
		wantKeys(t, r.store, map[string]string{"user:list": "7", "cartDetail:index:cart:4": "8"})
		r.wantClean(t)
	})
}
