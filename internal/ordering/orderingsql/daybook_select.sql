SELECT placed, paid, canceled, revenue FROM daybook WHERE branch_id = $1 AND biz_date = $2
