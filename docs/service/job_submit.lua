-- Memory requests from workprof: lower a request that is more than jobs of this name need, and raise one that is less.
-- Without an answer within 50 ms the request stays as it is. In slurm.conf: JobSubmitPlugins=lua

local url = os.getenv("WORKPROF_URL") or "http://127.0.0.1:8600"
local token = os.getenv("WORKPROF_TOKEN")
local patience_s = "0.05"
local PER_CPU = 2 ^ 63 -- from here on Slurm means a request per CPU, or none

local function quoted(text)
   return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function json(text)
   return '"' .. text:gsub('[%c"\\]', function(sign) return string.format("\\u%04x", sign:byte()) end) .. '"'
end

-- GB of the first attempt, or nil
local function size_gb(fields)
   local command = "curl -s -f -m " .. patience_s .. " -H 'Content-Type: application/json'"
   if token then
      command = command .. " -H " .. quoted("Authorization: Bearer " .. token)
   end
   local answer = io.popen(command .. " -d " .. quoted(fields) .. " " .. quoted(url .. "/v1/size") .. " 2>/dev/null")
   if not answer then
      return nil
   end
   local text = answer:read("*a") or ""
   answer:close()
   if text:match('"source":%s*"([%a ]+)"') ~= "advice" then
      return nil
   end
   return tonumber(text:match('"size_gb":%s*([%d.eE+-]+)'))
end

function slurm_job_submit(job, partitions, submit_uid)
   local name, asked = job.name, job.pn_min_memory
   if not name or not asked or asked >= PER_CPU or asked < 0 then
      return slurm.SUCCESS
   end
   local fields = '{"task_name":' .. json(name)
   if job.user_name then
      fields = fields .. ',"user":' .. json(job.user_name)
   end
   if job.account then
      fields = fields .. ',"group":' .. json(job.account)
   end
   if job.partition then
      fields = fields .. ',"workload":' .. json(job.partition)
   end
   local found = size_gb(fields .. string.format(',"requested_memory_gb":%.6f}', asked * 1048576 / 1e9))
   if found then
      job.pn_min_memory = math.ceil(found * 1e9 / 1048576)
      slurm.log_user("workprof: %d MiB of memory instead of %d", job.pn_min_memory, asked)
   end
   return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, modify_uid)
   return slurm.SUCCESS
end

return slurm.SUCCESS
