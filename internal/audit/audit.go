package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"strconv"
	"time"

	"comanda/internal/authz"
)

// Entry is one row of the audit log: who changed what. Each entry contains the hash of the previous one, so that
// tampering shows, see Chain.
type Entry struct {
	Seq       int64 // 1, 2, 3, without gaps
	At        time.Time
	Actor     string // user:7, service, system
	Action    string
	Subject   string // user:12, table:3
	Branch    int64  // 0 if it belongs to no branch
	RequestID string
	Address   string // address of the client; empty without a request, and in entries of releases before this field
	Before    string // JSON without secrets; empty if there was nothing
	After     string
	PrevHash  string
	Hash      string
}

// Actions. Those of accounts follow the OWASP logging vocabulary. The console translates them in
// web/staff/src/people/actions.
const (
	ActionLogin            = "authn_login_success"
	ActionLoginFailed      = "authn_login_fail" // several may share an entry, see Incidents
	ActionDenied           = "authz_fail"       // as above
	ActionPassword         = "authn_password_change"
	ActionPin              = "authn_pin_change"
	ActionPinReset         = "authn_pin_reset" // an administrator resets the PIN of another account
	ActionGoogleLinked     = "authn_google_connect"
	ActionGoogleUnlinked   = "authn_google_disconnect"
	ActionUserCreated      = "user_created"
	ActionUserUpdated      = "user_updated"
	ActionUserDisabled     = "user_disabled"
	ActionUserEnabled      = "user_enabled"
	ActionUserFlagged      = "user_flagged"
	ActionUserUnflagged    = "user_unflagged"
	ActionPrivileges       = "privilege_permissions_changed"
	ActionRoleCreated      = "role_created"
	ActionRoleUpdated      = "role_updated"
	ActionRoleDeleted      = "role_deleted"
	ActionExported         = "data_exported" // also a backup
	ActionImported         = "data_imported"
	ActionQuotaSet         = "quota_set"
	ActionMenuDrafted      = "menu_version_drafted"
	ActionMenuEdited       = "menu_version_edited"
	ActionMenuPublished    = "menu_version_published"
	ActionMenuCreated      = "menu_created"
	ActionMenuScheduled    = "menu_scheduled"
	ActionMenuWithdrawn    = "menu_withdrawn"
	ActionMenuDiscarded    = "menu_version_discarded"
	ActionMenuImported     = "menu_imported" // from a file, or from another branch
	ActionItemOff          = "menu_item_off"
	ActionItemRestored     = "menu_item_restored"
	ActionOptionOff        = "option_off"
	ActionOptionRestored   = "option_restored"
	ActionBranchCreated    = "branch_created"
	ActionBranchEdited     = "branch_edited"
	ActionBranchPaused     = "branch_paused"
	ActionBranchResumed    = "branch_resumed"
	ActionBranchRetired    = "branch_retired"
	ActionBranchRestored   = "branch_restored"
	ActionPricingSet       = "pricing_set"
	ActionVoucherCreated   = "voucher_created"
	ActionVoucherChanged   = "voucher_changed"
	ActionVoucherEnded     = "voucher_ended"
	ActionTaxClassSet      = "tax_class_set"
	ActionTaxClassDeleted  = "tax_class_deleted"
	ActionTaxClassAssigned = "tax_class_assigned"
	ActionCategoryEdited   = "category_edited"
	ActionCategoryDeleted  = "category_deleted"
	ActionDishEdited       = "dish_edited"
	ActionDishRetired      = "dish_retired"
	ActionOptionEdited     = "option_edited"
	ActionOptionRetired    = "option_retired"

	ActionOptionGroupEdited  = "option_group_edited"
	ActionOptionGroupRetired = "option_group_retired"

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
	ActionDiscountGiven   = "discount_given"
	ActionRefunded        = "refund_decided"
	ActionRefundDone      = "refund_settled"
	ActionStockAdjusted   = "stock_adjusted"
	ActionStockEdited     = "stock_item_edited"
	ActionRecipeEdited    = "recipe_edited"
	ActionMismatchCleared = "payment_mismatch_cleared"
	ActionReplayed        = "dead_letters_replayed"
	ActionMailAgain       = "mail_sent_again"
	ActionMailingCreated  = "mailing_created"
	ActionMailingCanceled = "mailing_canceled"
	ActionSegmentExported = "segment_exported"
	ActionKeyWithdrawn    = "token_key_withdrawn"
	ActionSettingsChanged = "settings_changed"
	ActionSettingsTested  = "settings_tested" // with the code of the result
)

// maxText bounds the Before and After values of an entry, in bytes. Entries are never deleted, so their size is
// bounded; a larger value is left out, see jsonText.
const maxText = 4096

// NewEntry returns an entry about an action of an actor. The subject is a kind and an id, such as table and 3.
func NewEntry(by authz.Actor, now time.Time, action, kind, id string, branch int64) Entry {
	return Entry{
		At: now, Actor: by.String(), Action: action, Subject: kind + ":" + id, Branch: branch, RequestID: by.Request,
		Address: by.Address,
	}
}

// WithBefore sets the old value, which is written as JSON and must not contain secrets.
func (e Entry) WithBefore(v any) Entry {
	e.Before = jsonText(v)
	return e
}

// WithAfter sets the new value, which is written as JSON and must not contain secrets.
func (e Entry) WithAfter(v any) Entry {
	e.After = jsonText(v)
	return e
}

// jsonText returns v as JSON. It never fails: an entry without details is better than a change without an entry.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil || len(b) > maxText {
		return `"too large"`
	}
	return string(b)
}

// Chained returns the entry with its number, the hash of its predecessor and its own hash.
func (e Entry) Chained(seq int64, prev string) Entry {
	e.Seq, e.PrevHash = seq, prev
	e.Hash = e.sum()
	return e
}

// sum hashes all fields, each with its length, so that no two entries have the same input. The address comes last and
// only if present: entries from before that field keep their hash.
func (e Entry) sum() string {
	h := sha256.New()
	for _, n := range []int64{e.Seq, e.At.UnixMilli(), e.Branch} {
		hashField(h, strconv.FormatInt(n, 10))
	}
	for _, s := range []string{e.Actor, e.Action, e.Subject, e.RequestID, e.Before, e.After, e.PrevHash} {
		hashField(h, s)
	}
	if e.Address != "" {
		hashField(h, e.Address)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashField adds one field with its length, see sum.
func hashField(h hash.Hash, s string) {
	_, _ = h.Write([]byte(strconv.Itoa(len(s)) + ":" + s)) // a hash never fails
}

// Chain verifies consecutive entries of the audit log.
type Chain struct {
	Seq  int64 // sequence number of the last verified entry
	Hash string
}

// Break is a place where the log is not as it was written.
type Break struct {
	Seq  int64  `json:"seq,string"`
	What string `json:"what"`
}

// Next verifies the next entry by number and returns the breaks that it finds.
func (c *Chain) Next(e Entry) []Break {
	var found []Break
	switch {
	case e.Seq != c.Seq+1:
		found = append(found, Break{e.Seq, "entries before it are missing"})
	case e.PrevHash != c.Hash:
		found = append(found, Break{e.Seq, "the entry before it is not the one that it was chained to"})
	}
	if e.sum() != e.Hash {
		found = append(found, Break{e.Seq, "it was changed"})
	}
	// The chain continues from the stored entry, so that one break is reported once and not for every later entry.
	c.Seq, c.Hash = e.Seq, e.Hash
	return found
}

// End compares the last verified entry with the log's head, which is stored separately and was read before and after
// the walk. Entries written during the walk may be missing; older ones must not be, and no entry may follow the head.
func (c *Chain) End(before, after Chain) []Break {
	sound := c.Seq >= before.Seq && c.Seq <= after.Seq
	for _, head := range []Chain{before, after} {
		sound = sound && (c.Seq != head.Seq || c.Hash == head.Hash)
	}
	if sound {
		return nil
	}
	return []Break{{c.Seq, "the newest entry is not the one that was written last"}}
}

// Filter selects entries of the audit log. Zero values select all.
type Filter struct {
	Subject string
	Actor   string
	Action  string
	Branch  int64
	From    time.Time // inclusive
	To      time.Time // exclusive

	EveryBranch bool    // also entries of no branch and of branches not in Branches
	Branches    []int64 // otherwise only these
	Limit       int
	Offset      int
}

// Reader reads the audit log, normally auditsql.
type Reader interface {
	Entries(ctx context.Context, f Filter) (page []Entry, total int64, err error)
	// Names returns the current names of subjects and actors such as table:3 and user:7. Names of people are in the order
	// of language. A name in several languages is a JSON object by locale. Subjects without a name, or deleted ones, are
	// missing.
	Names(ctx context.Context, language string, subjects []string) (map[string]string, error)
}

// Visible returns the filter narrowed to what an actor may see: entries of the actor's branches. It returns ErrNoBranch
// if the filter names another branch.
func (f Filter) Visible(by authz.Actor) (Filter, error) {
	if f.Branch != 0 && !by.Sees(f.Branch) {
		return f, authz.ErrNoBranch
	}
	f.EveryBranch, f.Branches = by.AllBranches, by.Branches
	return f, nil
}
