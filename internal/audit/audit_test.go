package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
)

// hashOf returns the hash of an entry by the rule of the first releases, which had no address.
func hashOf(e audit.Entry) string {
	var b strings.Builder
	for _, s := range []string{
		fmt.Sprint(e.Seq), fmt.Sprint(e.At.UnixMilli()), fmt.Sprint(e.Branch), e.Actor, e.Action, e.Subject, e.RequestID,
		e.Before, e.After, e.PrevHash,
	} {
		fmt.Fprintf(&b, "%d:%s", len(s), s)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// Entries without an address keep the hash of earlier releases; an address is part of the hash.
func TestEntry_Chained(t *testing.T) {
	actor := authz.Actor{Kind: authz.Account, UserID: 7, Request: "a request"}
	old := audit.NewEntry(actor, time.UnixMilli(1000), audit.ActionQuotaSet, "item", "3", 1).WithAfter(5).Chained(1, "before")
	if old.Address != "" || old.Hash != hashOf(old) {
		t.Errorf("%+v: the hash changed", old)
	}
	actor.Address = "192.0.2.7"
	e := audit.NewEntry(actor, time.UnixMilli(1000), audit.ActionQuotaSet, "item", "3", 1).WithAfter(5).Chained(1, "before")
	moved := e
	moved.PrevHash += fmt.Sprintf("%d:%s", len(e.Address), e.Address)
	if e.Address != actor.Address || e.Hash == old.Hash || e.Hash == hashOf(moved) {
		t.Errorf("the hash of %+v does not cover its address", e)
	}
}
