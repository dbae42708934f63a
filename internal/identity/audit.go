package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"strconv"
	"time"
)

// Entry is one row of the audit log: who changed what. Each carries the hash of the one before it, so that a change of
// history shows: see Chain.
type Entry struct {
	Seq       int64 // 1, 2, 3, without gaps
	At        time.Time
	Actor     string // user:7, service, system
	Action    string
	Subject   string // user:12, table:3
	Branch    int64  // 0 where it belongs to none
	RequestID string
	Address   string // of the client; empty where none has asked, and in entries of releases that did not keep it
	Before    string // JSON of what was changed, without secrets; empty where there was nothing
	After     string
	PrevHash  string
	Hash      string
}

// The actions. Those about accounts bear the names of the OWASP logging vocabulary. What the console calls each in its
// languages is in web/staff/src/people/actions.
const (
	ActionLogin           = "authn_login_success"
	ActionLoginFailed     = "authn_login_fail" // several may share an entry, see Incidents
	ActionDenied          = "authz_fail"       // likewise
	ActionPassword        = "authn_password_change"
	ActionPin             = "authn_pin_change"
	ActionUserCreated     = "user_created"
	ActionUserUpdated     = "user_updated"
	ActionUserDisabled    = "user_disabled"
	ActionUserEnabled     = "user_enabled"
	ActionPrivileges      = "privilege_permissions_changed"
	ActionRoleCreated     = "role_created"
	ActionRoleUpdated     = "role_updated"
	ActionRoleDeleted     = "role_deleted"
	ActionExported        = "data_exported" // also a backup
	ActionImported        = "data_imported"
	ActionQuotaSet        = "quota_set"
	ActionMenuDrafted     = "menu_version_drafted"
	ActionMenuEdited      = "menu_version_edited"
	ActionMenuPublished   = "menu_version_published"
	ActionMenuCreated     = "menu_created"
	ActionMenuDiscarded   = "menu_version_discarded"
	ActionItemOff         = "menu_item_off"
	ActionItemRestored    = "menu_item_restored"
	ActionBranchEdited    = "branch_edited"
	ActionBranchPaused    = "branch_paused"
	ActionBranchResumed   = "branch_resumed"
	ActionCategoryEdited  = "category_edited"
	ActionCategoryDeleted = "category_deleted"
	ActionDishEdited      = "dish_edited"
	ActionDishRetired     = "dish_retired"
	ActionTableRotated    = "table_rotated"
	ActionTableCreated    = "table_created"
	ActionTableEdited     = "table_edited"
	ActionCodesPrinted    = "table_codes_printed"
	ActionVisitClosed     = "visit_closed"
	ActionVisitOpened     = "visit_opened"
	ActionVisitMoved      = "visit_moved"
	ActionPaymentTaken    = "payment_taken"
	ActionOrderCanceled   = "order_canceled"
	ActionOrderRevived    = "order_revived" // paid at the counter after it had expired
	ActionRefunded        = "refund_decided"
	ActionRefundDone      = "refund_settled"
	ActionStockAdjusted   = "stock_adjusted"
	ActionStockEdited     = "stock_item_edited"
	ActionRecipeEdited    = "recipe_edited"
	ActionMismatchCleared = "payment_mismatch_cleared"
	ActionReplayed        = "dead_letters_replayed"
	ActionKeyWithdrawn    = "token_key_withdrawn"
)

// maxAuditText bounds what an entry says of a change, in bytes.
const maxAuditText = 4096

// System is the actor of what the operator does at the installation's own console.
func System() Actor { return Actor{Kind: Console, AllBranches: true} }

// Did begins an entry about something that an actor has done: subject is a kind and an id, such as table and 3.
func (a Actor) Did(now time.Time, action, kind, id string, branch int64) Entry {
	return Entry{
		At: now, Actor: a.String(), Action: action, Subject: kind + ":" + id, Branch: branch, RequestID: a.Request,
		Address: a.Address,
	}
}

// From says what it was before; values are written as JSON and must not hold secrets.
func (e Entry) From(v any) Entry {
	e.Before = auditText(v)
	return e
}

// To says what it is now.
func (e Entry) To(v any) Entry {
	e.After = auditText(v)
	return e
}

// auditText never fails: an entry without a detail is better than a change without an entry.
func auditText(v any) string {
	b, err := json.Marshal(v)
	if err != nil || len(b) > maxAuditText {
		return `"too large"`
	}
	return string(b)
}

// Sealed gives the entry its place behind another one.
func (e Entry) Sealed(seq int64, prev string) Entry {
	e.Seq, e.PrevHash = seq, prev
	e.Hash = e.sum()
	return e
}

// sum hashes all fields, each behind its length, so that no two entries can be written alike. The address comes last and
// only where there is one: entries of releases that did not keep it have the hash that they were given.
func (e Entry) sum() string {
	h := sha256.New()
	for _, n := range []int64{e.Seq, e.At.UnixMilli(), e.Branch} {
		field(h, strconv.FormatInt(n, 10))
	}
	for _, s := range []string{e.Actor, e.Action, e.Subject, e.RequestID, e.Before, e.After, e.PrevHash} {
		field(h, s)
	}
	if e.Address != "" {
		field(h, e.Address)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func field(h hash.Hash, s string) {
	_, _ = h.Write([]byte(strconv.Itoa(len(s)) + ":" + s)) // a hash takes everything
}

// Chain looks at entries one after the other and tells where history was changed.
type Chain struct {
	Seq  int64 // of the entry that was seen last
	Hash string
}

// Broken is a place at which the log is not as it was written.
type Broken struct {
	Seq  int64  `json:"seq,string"`
	What string `json:"what"`
}

// Next takes the entry that comes next by its number, and tells what is wrong with it.
func (c *Chain) Next(e Entry) []Broken {
	var found []Broken
	switch {
	case e.Seq != c.Seq+1:
		found = append(found, Broken{e.Seq, "entries before it are missing"})
	case e.PrevHash != c.Hash:
		found = append(found, Broken{e.Seq, "the entry before it is another one than when it was written"})
	}
	if e.sum() != e.Hash {
		found = append(found, Broken{e.Seq, "it was changed"})
	}
	c.Seq, c.Hash = e.Seq, e.Hash
	return found
}

// End compares the last entry with the head, which is kept apart, as it was before and after the log was read: what was
// written meanwhile need not have been seen, but nothing older may be missing and nothing may be behind the head.
func (c *Chain) End(before, after Chain) []Broken {
	sound := c.Seq >= before.Seq && c.Seq <= after.Seq
	for _, head := range []Chain{before, after} {
		sound = sound && (c.Seq != head.Seq || c.Hash == head.Hash)
	}
	if sound {
		return nil
	}
	return []Broken{{c.Seq, "the newest entry is not the one that was written last"}}
}

// AuditFilter chooses entries of the audit log; zero values choose all.
type AuditFilter struct {
	Subject string
	Actor   string
	Action  string
	Branch  int64
	From    time.Time // inclusive
	To      time.Time // exclusive

	EveryBranch bool    // also what belongs to no branch or to one that is not listed
	Branches    []int64 // otherwise only these
	Limit       int
	Offset      int
}
