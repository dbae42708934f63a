package identitysql

import (
	"embed"

	"comanda/internal/sqldb"
)

//go:embed account_*.sql session_*.sql spent_*.sql revocation_*.sql otp_*.sql cap_*.sql secret_*.sql mail_*.sql pin_*.sql
var accountFiles embed.FS

// What accounts ask of SQL.
var (
	accountStmts = sqldb.Load(accountFiles)

	accountSelect   = accountStmts.Must("account_select")
	accountLock     = accountStmts.Must("account_lock")
	accountFind     = accountStmts.Must("account_find")
	accountInsert   = accountStmts.Must("account_insert")
	accountUpdate   = accountStmts.Must("account_update")
	accountTaken    = accountStmts.Must("account_taken")
	accountFail     = accountStmts.Must("account_fail")
	accountLogin    = accountStmts.Must("account_login")
	accountProve    = accountStmts.Must("account_prove")
	accountReset    = accountStmts.Must("account_reset")
	accountPassword = accountStmts.Must("account_password")

	sessionInsert    = accountStmts.Must("session_insert")
	sessionByToken   = accountStmts.Must("session_by_token")
	sessionLock      = accountStmts.Must("session_lock")
	sessionHolder    = accountStmts.Must("session_holder")
	sessionList      = accountStmts.Must("session_list")
	sessionRotate    = accountStmts.Must("session_rotate")
	sessionEnd       = accountStmts.Must("session_end")
	sessionEndAll    = accountStmts.Must("session_end_all")
	sessionEndOldest = accountStmts.Must("session_end_oldest")
	sessionSeen      = accountStmts.Must("session_seen")
	sessionStanding  = accountStmts.Must("session_standing")
	sessionPurge     = accountStmts.Must("session_purge")
	spentInsert      = accountStmts.Must("spent_insert")
	spentSelect      = accountStmts.Must("spent_select")
	spentPurge       = accountStmts.Must("spent_purge")

	pinPut        = accountStmts.Must("pin_put")
	pinDelete     = accountStmts.Must("pin_delete")
	pinTry        = accountStmts.Must("pin_try")
	pinForget     = accountStmts.Must("pin_forget")
	pinColleagues = accountStmts.Must("pin_colleagues")

	revocationInsert = accountStmts.Must("revocation_insert")
	revocationList   = accountStmts.Must("revocation_list")
	revocationPurge  = accountStmts.Must("revocation_purge")

	otpPut     = accountStmts.Must("otp_put")
	otpAttempt = accountStmts.Must("otp_attempt")
	otpUse     = accountStmts.Must("otp_use")
	otpPurge   = accountStmts.Must("otp_purge")
	capLock    = accountStmts.Must("cap_lock")
	capList    = accountStmts.Must("cap_list")
	capAdd     = accountStmts.Must("cap_add")
	capPurge   = accountStmts.Must("cap_purge")

	secretInsert  = accountStmts.Must("secret_insert")
	secretList    = accountStmts.Must("secret_list")
	secretReplace = accountStmts.Must("secret_replace")
	mailInsert    = accountStmts.Must("mail_insert")
)
